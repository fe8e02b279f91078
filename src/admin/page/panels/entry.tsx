/** One tool, prompt, resource or template: what it is, what it takes, and a way to try it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { expandTemplate, parseTemplate } from "../../../lib/uri-template/template.ts";
import type { OwnToolRow, PromptRow, ResourceRow, TemplateRow, ToolRow } from "../../api/schema.ts";
import { fieldsOf, promptFields, templateFields } from "../../forms/form.ts";
import { follow } from "../api.ts";
import { clock, count, ms, visible } from "../format.ts";
import { readTool, useLive } from "../live.ts";
import { Form } from "../parts/form.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { complete, RunView, useRun } from "../parts/runner.tsx";
import { SchemaView } from "../parts/schema-view.tsx";
import { Copy, Empty, Figure, Loading, Problem, Section } from "../parts/small.tsx";
import { href } from "../router.ts";
import type { Kind } from "./catalog.tsx";

export function Entry({ kind, name }: { kind: Kind; name: string }) {
  const live = useLive();
  const rows: readonly object[] | undefined = live[kind];
  if (!rows) return <Loading what={kind} />;
  return (
    <div class="panel">
      <p class="crumbs">
        <a href={href(["catalog", kind])}>{kind}</a> /
      </p>
      <Found kind={kind} name={name} live={live} />
    </div>
  );
}

function Found({ kind, name, live }: { kind: Kind; name: string; live: ReturnType<typeof useLive> }) {
  if (kind === "tools") {
    const isNamed = (row: OwnToolRow): boolean => row.name === name;
    const tool = live.tools?.find(isNamed) ?? live.ownTools?.find(isNamed);
    if (tool) return <Tool key={name} tool={tool} />;
  } else if (kind === "prompts") {
    const prompt = live.prompts?.find((row) => row.name === name);
    if (prompt) return <Prompt key={name} prompt={prompt} />;
  } else if (kind === "resources") {
    const resource = live.resources?.find((row) => row.uri === name);
    if (resource) return <Resource key={name} resource={resource} />;
  } else {
    const template = live.templates?.find((row) => row.uriTemplate === name);
    if (template) return <Template key={name} template={template} />;
  }
  return (
    <Empty title={`“${visible(name)}” is not in the catalog`}>
      Its server may be down, or may not list it any more.
    </Empty>
  );
}

function Head(props: {
  name: string;
  title?: string | undefined;
  /** Undefined: it is the gateway's own. */
  serverId?: string | undefined;
  original?: string | undefined;
  about?: string | undefined;
}) {
  return (
    <>
      <h1 class="name">
        {visible(props.name)} <Copy text={props.name} />
      </h1>
      {props.title !== undefined && <p class="subtitle">{visible(props.title)}</p>}
      <p class="muted">
        {props.serverId === undefined ? (
          "of the gateway itself"
        ) : (
          <>
            of <a href={href(["servers", props.serverId])}>{props.serverId}</a>, where it is called{" "}
            <code>{visible(props.original ?? "")}</code>
          </>
        )}
      </p>
      {props.about !== undefined && <Markdown text={props.about} />}
    </>
  );
}

const HINTS: Record<string, [string, string]> = {
  readOnlyHint: ["reads only", "may change things"],
  destructiveHint: ["destructive", "not destructive"],
  idempotentHint: ["may be repeated", "not to be repeated"],
  openWorldHint: ["reaches other systems", "stays in its own system"],
};

/** A tool's figures are read again so often, while it is called. */
const FIGURES_MS = 1000;

/** Keeps the figures of a tool true while they are shown. */
function useFigures(name: string): void {
  const { calls } = useLive();
  const newest = calls?.findLast((call) => call.method === "tools/call" && call.name === name)?.requestId;
  const readAt = useRef(0);
  useEffect(() => {
    if (newest === undefined) return;
    const timer = setTimeout(
      () => {
        readAt.current = Date.now();
        void readTool(name);
      },
      Math.max(0, readAt.current + FIGURES_MS - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [name, newest]);
}

function Tool({ tool }: { tool: ToolRow | OwnToolRow }) {
  useFigures(tool.name);
  const { run, start, stop, isRunning } = useRun();
  const [asked, setAsked] = useState<Record<string, unknown>>();
  const hints = Object.entries(HINTS).flatMap(([key, [yes, no]]) => {
    const value = tool.annotations?.[key];
    return typeof value === "boolean" ? [value ? yes : no] : [];
  });
  const isDestructive = tool.annotations?.["destructiveHint"] === true && tool.annotations["readOnlyHint"] !== true;
  const call = (values: Record<string, unknown>): void => {
    setAsked(undefined);
    start({ method: "tools/call", params: { name: tool.name, arguments: values } });
  };
  return (
    <>
      <Head
        name={tool.name}
        title={tool.title}
        {...("serverId" in tool && { serverId: tool.serverId, original: tool.originalName })}
        about={tool.description}
      />
      {hints.length > 0 && (
        <p class="tags">
          {hints.map((hint) => (
            <span key={hint} class={hint === "destructive" ? "tag tag-bad" : "tag"}>
              {hint}
            </span>
          ))}
        </p>
      )}
      <div class="figures">
        <Figure
          label="Cost in a list"
          value={`${count(tool.tokens)} tokens`}
          note={!("listed" in tool) || tool.listed ? "listed" : "found by search"}
        />
        {"calls" in tool && (
          <>
            <Figure label="Calls" value={count(tool.calls)} note={`${count(tool.errors)} failed`} />
            <Figure label="Median" value={ms(tool.p50Ms)} />
          </>
        )}
      </div>
      <Section title="Try it">
        <Form
          fields={fieldsOf(tool.inputSchema)}
          submit={isRunning ? "Running…" : "Call"}
          busy={isRunning}
          onSubmit={(values) => (isDestructive ? setAsked(values) : call(values))}
        />
        {asked && (
          <div class="question" role="alertdialog" aria-label="Confirm the call">
            <p class="question-text">This tool says that it is destructive. Call it?</p>
            <div class="form-buttons">
              <button type="button" class="danger" onClick={() => call(asked)}>
                Call it
              </button>
              <button type="button" onClick={() => setAsked(undefined)}>
                Do not
              </button>
            </div>
          </div>
        )}
        <RunView run={run} stop={stop} />
      </Section>
      <Section title="What it takes">
        <SchemaView schema={tool.inputSchema} />
      </Section>
      {tool.outputSchema && (
        <Section title="What it gives back">
          <SchemaView schema={tool.outputSchema} />
        </Section>
      )}
    </>
  );
}

function Prompt({ prompt }: { prompt: PromptRow }) {
  const { run, start, stop, isRunning } = useRun();
  return (
    <>
      <Head
        name={prompt.name}
        title={prompt.title}
        serverId={prompt.serverId}
        original={prompt.originalName}
        about={prompt.description}
      />
      <Section title="Try it">
        <Form
          fields={promptFields(prompt)}
          submit={isRunning ? "Running…" : "Get the prompt"}
          busy={isRunning}
          complete={(name, value, others) =>
            complete({ type: "ref/prompt", name: prompt.name }, { name, value }, others)
          }
          onSubmit={(values) => start({ method: "prompts/get", params: { name: prompt.name, arguments: values } })}
        />
        <RunView run={run} stop={stop} />
      </Section>
    </>
  );
}

function Resource({ resource }: { resource: ResourceRow }) {
  const { run, start, stop, isRunning } = useRun();
  const read = (): void => start({ method: "resources/read", params: { uri: resource.uri } });
  return (
    <>
      <Head
        name={resource.uri}
        title={resource.title ?? resource.name}
        serverId={resource.serverId}
        original={resource.originalUri}
        about={resource.description}
      />
      <Section title="Read and watch">
        <div class="actions">
          <button type="button" class="primary" disabled={isRunning} onClick={read}>
            {isRunning ? "Reading…" : "Read"}
          </button>
          <Watch uri={resource.uri} onUpdate={read} />
        </div>
        <RunView run={run} stop={stop} />
      </Section>
      {resource.meta && (
        <Section title="What its server says about it">
          <div class="json">
            <JsonView value={resource.meta} />
          </div>
        </Section>
      )}
    </>
  );
}

/** Subscribes while it is shown, and reads again with every update. */
function Watch({ uri, onUpdate }: { uri: string; onUpdate: () => void }) {
  const [updates, setUpdates] = useState<readonly number[]>();
  const [problem, setProblem] = useState("");
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const begin = (): void => {
    const controller = new AbortController();
    abort.current = controller;
    setProblem("");
    setUpdates([]);
    follow(`/api/resources/updates?uri=${encodeURIComponent(uri)}`, {
      signal: controller.signal,
      quiet: true,
      onEvent: ({ type }) => {
        if (type !== "updated") return;
        setUpdates((old) => [...(old ?? []), Date.now()].slice(-20));
        onUpdate();
      },
    })
      .then(() => setUpdates(undefined))
      .catch((error: unknown) => {
        if (controller.signal.aborted) return;
        setUpdates(undefined);
        setProblem((error as Error).message);
      });
  };
  const end = (): void => {
    abort.current?.abort();
    setUpdates(undefined);
  };
  return (
    <>
      <button type="button" aria-pressed={updates !== undefined} onClick={updates ? end : begin}>
        {updates ? "Stop watching" : "Watch"}
      </button>
      <span class="muted" role="status">
        {updates &&
          (updates.length === 0
            ? "subscribed, no update yet"
            : `${updates.length} updates, the last at ${clock(updates.at(-1)!)}`)}
      </span>
      {problem && <Problem>{visible(problem)}</Problem>}
    </>
  );
}

function Template({ template }: { template: TemplateRow }) {
  const { run, start, stop, isRunning } = useRun();
  const parsed = parseTemplate(template.uriTemplate);
  if (!parsed.ok) return <Empty title="This template cannot be read">{visible(template.uriTemplate)}</Empty>;
  return (
    <>
      <Head
        name={template.uriTemplate}
        title={template.title ?? template.name}
        serverId={template.serverId}
        original={template.originalUriTemplate}
        about={template.description}
      />
      <Section title="Try it">
        <Form
          fields={templateFields(template.uriTemplate)}
          submit={isRunning ? "Reading…" : "Read"}
          busy={isRunning}
          complete={(name, value, others) =>
            complete({ type: "ref/resource", uri: template.uriTemplate }, { name, value }, others)
          }
          onSubmit={(values) =>
            start({
              method: "resources/read",
              params: { uri: expandTemplate(parsed.template, values as Record<string, string>) },
            })
          }
        />
        <RunView run={run} stop={stop} />
      </Section>
    </>
  );
}
