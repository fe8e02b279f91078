/**
 * A skill for agents that prefer a shell: what they read before they use the gateway.
 *
 * Invariant: at most 300 tokens, because agents pay for it in every session.
 */

/** `goblin`: how the command is run. */
export function skillText(goblin: string): string {
  return `---
name: goblin
description: Use tools of MCP servers (issues, mail, databases, browsers and more) from the shell. Use it when a task needs a system that no local command reaches.
---

# Tools of MCP servers, from the shell

1. Find a tool: \`${goblin} list tools | grep -i <word>\`. All servers: \`${goblin} list servers\`; the tools of one: \`${goblin} list tools -s <server>\`.
2. Read what it takes and returns: \`${goblin} call <tool> --help\`.
3. Call it: \`${goblin} call <tool> key=text other:=json\`. \`key=@file\` takes a file's text, \`--args -\` a JSON object from stdin, \`--pick items[0].name\` prints one part, \`--json\` all.

Exit code 0: done. 1: it failed, and stderr says why. 2: wrong usage.

Resources: \`${goblin} list resources\`, \`${goblin} read <uri>\`. Prompts: \`${goblin} list prompts\`, \`${goblin} prompt <name> key=value\`.
No tool fits: \`${goblin} search <words>\` finds servers; ask the user before you add one.
`;
}
