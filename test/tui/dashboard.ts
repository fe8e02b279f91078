/** The dashboard in a terminal against the tests' admin API, for the tests in terminals. */
import { type FakeAdmin, type FakeOptions, startFakeAdmin } from "./fake-admin.ts";
import { command, openTerminal, type Terminal } from "./pty.ts";

const open: (() => void | Promise<void>)[] = [];

/** Ends something after the test. */
export function later(close: () => void | Promise<void>): void {
  open.push(close);
}

export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

export async function fake(options: FakeOptions = {}): Promise<FakeAdmin> {
  const admin = await startFakeAdmin(options);
  later(() => admin.close());
  return admin;
}

export function terminal(size?: { columns: number; rows: number }): Terminal {
  const made = openTerminal(size);
  later(() => made.close());
  return made;
}

export async function dashboard(options: FakeOptions & { columns?: number; rows?: number; cwd?: string } = {}) {
  const admin = await fake(options);
  const term = terminal({ columns: options.columns ?? 80, rows: options.rows ?? 24 });
  const folder = options.cwd === undefined ? "" : `cd ${options.cwd}; `;
  term.keys(`${folder}${command(admin.url)}; echo exit=$?`, "Enter");
  await term.until((screen) => screen.includes("2 of 4 ready") && screen.includes("timeout"));
  return { admin, term };
}

export const rowsOf = (screen: string): string[] => screen.split("\n");
export const rowWith = (screen: string, text: string): string => rowsOf(screen).find((row) => row.includes(text)) ?? "";
