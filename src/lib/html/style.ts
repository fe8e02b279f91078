/** The stylesheet of the pages that the gateway serves to people's browsers. */
export const STYLE = `:root {
  color-scheme: light dark;
  --text: #1d1f21; --quiet: #5b6168; --ground: #f6f6f4; --card: #fff; --line: #d9dad6; --accent: #2f6f3e;
  --on-accent: #fff; --problem: #a3261c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e8e8e6; --quiet: #a4a9ae; --ground: #151716; --card: #1e2120; --line: #3a3e3c; --accent: #7fc48c;
    --on-accent: #10140f; --problem: #ff9d92;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 28rem; margin: 0 auto; padding: 1.5rem 1rem; }
h1 { font-size: 1.4rem; line-height: 1.25; font-weight: 400; overflow-wrap: anywhere; }
dl, ul {
  margin: 1rem 0; padding: 0 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
}
dt { margin-top: .75rem; color: var(--quiet); font-size: .875rem; }
dd { margin: 0 0 .75rem; overflow-wrap: anywhere; }
li {
  display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between;
  padding: .75rem 0;
}
li + li { border-top: 1px solid var(--line); }
li > div { min-width: 0; overflow-wrap: anywhere; }
small, .hint { color: var(--quiet); font-size: .875rem; }
label, legend { font-weight: 600; }
fieldset { margin: 0 0 1rem; padding: .5rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
.choice { display: block; padding: .5rem 0; font-weight: 400; overflow-wrap: anywhere; }
.hint { margin: 0 0 .5rem; }
.note { padding-left: .75rem; border-left: 3px solid var(--accent); overflow-wrap: anywhere; }
.problem { color: var(--problem); font-weight: 600; margin: 0 0 .5rem; overflow-wrap: anywhere; }
input[type="text"], input[type="password"] {
  width: 100%; padding: .6rem .75rem; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--quiet); border-radius: .5rem;
}
#code { font: 1.5rem/1.3 ui-monospace, monospace; letter-spacing: .1em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.buttons { display: flex; gap: .75rem; margin-top: 1rem; }
.buttons button { flex: 1; }
button, .button {
  display: inline-block; min-height: 2.75rem; padding: .55rem 1rem; font: inherit; font-weight: 600;
  text-decoration: none; border-radius: .5rem; cursor: pointer;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent);
}
label + button { margin-top: 1rem; }
button.quiet { background: none; color: inherit; border-color: var(--quiet); }
`;
