/**
 * Demo server `notes`: a notebook in memory. Each note is a resource: adding one changes the
 * resource list, and editing one sends an update.
 */
import {
  type Changes,
  type Demo,
  type DemoTool,
  type Fields,
  stringArgument,
  structured,
  ToolFailure,
  text,
} from "./demo.ts";

interface Note {
  id: string;
  title: string;
  text: string;
}

const STYLES = ["bullets", "haiku", "one sentence", "report"];

const SEED = [
  { title: "Goblin", text: "One MCP endpoint in front of all your MCP servers." },
  { title: "Shopping", text: "Mushrooms, lamp oil, rope (50 feet)." },
  { title: "Reading list", text: "The Model Context Protocol specification, then something with dragons." },
];

const nobody: Changes = { resourceListChanged: () => {}, resourceUpdated: () => {} };

export function createNotes(): Demo {
  const notes = new Map<string, Note>();
  let lastId = 0;
  let changes = nobody;

  const add = (title: string, body: string): Note => {
    const note = { id: String(++lastId), title, text: body };
    notes.set(note.id, note);
    return note;
  };
  const existing = (id: string): Note => {
    const note = notes.get(id);
    if (!note) throw new ToolFailure(`No note with id ${id}`);
    return note;
  };
  for (const note of SEED) add(note.title, note.text);

  const tools: DemoTool[] = [
    {
      definition: tool({
        name: "add",
        description: "Writes a note",
        properties: { title: "Title", text: "Text of the note" },
        required: ["title", "text"],
      }),
      run: (args) => {
        const note = add(stringArgument(args, "title"), stringArgument(args, "text"));
        changes.resourceListChanged();
        return { content: [text(`Added note ${note.id}`), link(note)] };
      },
    },
    {
      definition: tool({
        name: "edit",
        description: "Replaces the text of a note",
        properties: { id: "Note id", text: "New text" },
        required: ["id", "text"],
      }),
      run: (args) => {
        const note = existing(stringArgument(args, "id"));
        note.text = stringArgument(args, "text");
        changes.resourceUpdated(uriOf(note));
        return { content: [text(`Changed note ${note.id}`), link(note)] };
      },
    },
    {
      definition: {
        ...tool({
          name: "search",
          description: "Finds notes that contain a text; lists all notes without one",
          properties: { query: "Text to find" },
          required: [],
        }),
        outputSchema: {
          type: "object",
          properties: {
            notes: {
              type: "array",
              items: {
                type: "object",
                properties: { id: { type: "string" }, title: { type: "string" }, text: { type: "string" } },
                required: ["id", "title", "text"],
              },
            },
          },
          required: ["notes"],
        },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      run: (args) => {
        const query = String(args.query ?? "").toLowerCase();
        const found = [...notes.values()].filter((n) => `${n.title}\n${n.text}`.toLowerCase().includes(query));
        return structured({ notes: found.map((note) => ({ ...note })) }, ...found.map(link));
      },
    },
    {
      definition: {
        ...tool({ name: "remove", description: "Deletes a note", properties: { id: "Note id" }, required: ["id"] }),
        annotations: { destructiveHint: true, openWorldHint: false },
      },
      run: (args) => {
        const note = existing(stringArgument(args, "id"));
        notes.delete(note.id);
        changes.resourceListChanged();
        return { content: [text(`Removed note ${note.id}: ${note.title}`)] };
      },
    },
  ];

  return {
    info: { name: "notes", title: "Notes", version: "1.0.0" },
    instructions: "A notebook that lives as long as this server. Notes are resources: note:///1, note:///2, …",
    tools,
    prompts: [
      {
        definition: {
          name: "summarize",
          title: "Summarize notes",
          description: "Asks for a summary of the notes on a topic",
          arguments: [
            { name: "topic", description: "What the notes are about", required: true },
            { name: "style", description: `One of: ${STYLES.join(", ")}`, required: false },
          ],
        },
        messages: (args) => {
          const topic = args.topic ?? "";
          const about = [...notes.values()].filter((n) =>
            `${n.title} ${n.text}`.toLowerCase().includes(topic.toLowerCase()),
          );
          const request = `Summarize these notes on "${topic}" as ${args.style ?? "one sentence"}.`;
          return [
            { role: "user", content: text(request) },
            ...about.map((note) => ({ role: "user", content: { type: "resource", resource: contents(note) } })),
          ];
        },
      },
    ],
    resources: {
      list: () => [...notes.values()].map(resource),
      templates: () => [
        { uriTemplate: "note:///{id}", name: "note", title: "A note", description: "By id", mimeType: "text/markdown" },
      ],
      read: (uri) => {
        const note = [...notes.values()].find((candidate) => uriOf(candidate) === uri);
        return note && contents(note);
      },
    },
    complete: (ref, argument) => {
      if (ref.type === "ref/resource" && argument === "id") return [...notes.keys()];
      if (ref.name !== "summarize") return [];
      if (argument === "style") return STYLES;
      return argument === "topic" ? [...notes.values()].map((note) => note.title) : [];
    },
    start(given) {
      changes = given;
    },
  };
}

interface TextTool {
  readonly name: string;
  readonly description: string;
  /** The description of each argument. */
  readonly properties: Readonly<Record<string, string>>;
  readonly required: string[];
}

/** Defines a tool whose arguments are all texts. */
function tool({ name, description, properties, required }: TextTool) {
  const schema = Object.entries(properties).map(([key, about]) => [key, { type: "string", description: about }]);
  return { name, description, inputSchema: { type: "object", properties: Object.fromEntries(schema), required } };
}

function uriOf(note: Note): string {
  return `note:///${note.id}`;
}

function resource(note: Note): Fields {
  const { title, text: body } = note;
  return { uri: uriOf(note), name: `note-${note.id}`, title, mimeType: "text/markdown", size: Buffer.byteLength(body) };
}

function link(note: Note): Fields {
  return { type: "resource_link", ...resource(note) };
}

function contents(note: Note): Fields {
  return { uri: uriOf(note), mimeType: "text/markdown", text: `# ${note.title}\n\n${note.text}\n` };
}
