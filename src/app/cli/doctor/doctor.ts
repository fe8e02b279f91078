/**
 * `goblin doctor`: examines the machine, the config, the clients and the servers, and says what is
 * wrong, where, and what to do. With --fix it does what is safe, and says what it did.
 *
 * Exit code 0 if nothing is broken, even with warnings; 1 otherwise. With --fix, what it has fixed
 * is not broken any more.
 */
import type { Finding, Level, Section } from "../../../admin/doctor/finding.ts";
import { clean, cleanLines } from "../../../lib/text/clean.ts";
import { messageOf } from "../../../mcp/protocol/errors.ts";
import type { TargetOptions } from "../gateway/target.ts";
import { type Colour, painter } from "../terminal/paint.ts";
import { createStatusLine } from "../terminal/status-line.ts";
import { printJson } from "../terminal/table.ts";
import { clientSection } from "./clients.ts";
import { configSection, gatewaySection, programSection, stateSection } from "./machine.ts";
import { type Patient, withPatient } from "./patient.ts";
import { serverSections } from "./servers.ts";

export interface DoctorOptions extends TargetOptions {
  readonly fix?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** What was done about a finding. */
interface Treated extends Finding {
  /** What --fix did. */
  readonly done?: string;
  /** Why --fix could not. */
  readonly failed?: string;
}

export async function doctor(server: string | undefined, options: DoctorOptions): Promise<number> {
  const line = createStatusLine();
  line.spin(() => "looking around");
  const treated = async (found: readonly Section[]) => {
    if (!options.fix) return found;
    if (!options.json) announce(found, (text) => line.above(text));
    return treat(found);
  };
  // First: a gateway does not start on a state folder that others can read.
  const state = server === undefined ? await treated([stateSection()]) : [];
  const examined = await withPatient({ ...options, only: server }, async (patient) =>
    treated(await examine(patient, server, options)),
  ).finally(() => line.clear());
  const sections = [...examined, ...state];
  const rest = sections.flatMap(({ findings }) => findings).filter((finding: Treated) => finding.done === undefined);
  const errors = rest.filter(({ level }) => level === "error").length;
  const warnings = rest.filter(({ level }) => level === "warning").length;
  if (options.json) printJson({ ok: errors === 0, errors, warnings, sections: sections.map(inJson) });
  else {
    print(sections);
    const fixable = options.fix ? 0 : rest.filter(({ fix }) => fix).length;
    const hint = fixable === 0 ? "" : `; goblin doctor --fix mends ${fixable} of them`;
    console.log(errors + warnings === 0 ? "All is well." : `${errors} broken, ${warnings} to look at${hint}.`);
  }
  return errors === 0 ? 0 : 1;
}

async function examine(patient: Patient, server: string | undefined, options: DoctorOptions): Promise<Section[]> {
  if (server !== undefined && patient.target) return serverSections(patient, server);
  const rest = await Promise.all([
    gatewaySection(patient),
    programSection(patient),
    configSection(patient),
    // The entries lead to the config's gateway: with an unusable config they cannot be checked.
    patient.file.path !== undefined && !patient.file.loaded ? [] : clientSection({ config: options.config }),
    serverSections(patient, undefined),
  ]);
  return rest.flat();
}

/** Says what will be fixed before anything is. */
function announce(sections: readonly Section[], print: (text: string) => void): void {
  const fixable = sections.flatMap(({ findings }) => findings).filter(({ fix }) => fix);
  for (const { where, what, remedy, changes = [] } of fixable) {
    print(clean(`will fix ${what.includes(where) ? "" : `${where}: `}${remedy ?? what}`));
    for (const change of changes) print(clean(`  ${change}`));
  }
}

async function treat(sections: readonly Section[]): Promise<Section[]> {
  const treated: Section[] = [];
  for (const { title, findings } of sections) {
    const results: Treated[] = [];
    for (const finding of findings) {
      if (!finding.fix) results.push(finding);
      else {
        results.push(
          await finding.fix().then(
            (done) => ({ ...finding, done }),
            (error: unknown) => ({ ...finding, failed: messageOf(error) }),
          ),
        );
      }
    }
    treated.push({ title, findings: results });
  }
  return treated;
}

function inJson({ title, findings }: Section) {
  return {
    title,
    findings: findings.map(({ level, code, where, what, remedy, fix, changes, done, failed }: Treated) => ({
      level,
      code,
      where,
      what,
      remedy: remedy ?? null,
      fixable: fix !== undefined,
      ...(changes !== undefined && { changes }),
      ...(done !== undefined && { done }),
      ...(failed !== undefined && { failed }),
    })),
  };
}

const signs: Readonly<Record<Level, readonly [sign: string, colour: Colour | undefined]>> = {
  ok: ["ok  ", "green"],
  note: ["–   ", "dim"],
  warning: ["warn", "yellow"],
  error: ["FAIL", "red"],
};

function print(sections: readonly Section[]): void {
  const paint = painter(process.stdout);
  for (const { title, findings } of sections) {
    console.log(paint("bold", clean(title)));
    for (const { level, where, what, remedy, done, failed } of findings as readonly Treated[]) {
      const [sign, colour] = signs[level];
      const place =
        title.toLowerCase().includes(where.toLowerCase()) || level === "ok" || what.includes(where) ? "" : `${where}: `;
      const [first = "", ...more] = cleanLines(`${place}${what}`);
      console.log(`  ${paint(colour, sign)}  ${first}`);
      for (const text of more) console.log(`        ${text}`);
      if (done !== undefined) console.log(`        ${paint("green", "fixed:")} ${clean(done)}`);
      else if (failed !== undefined) console.log(`        ${paint("red", "not fixed:")} ${clean(failed)}`);
      else if (remedy !== undefined && level !== "ok") console.log(`        → ${clean(remedy)}`);
    }
  }
}
