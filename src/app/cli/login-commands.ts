/** The commands about logins at servers. Each loads when it is used. */
import type { Command } from "commander";

/** `done` takes a command's exit code. */
export function addLoginCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  const about = (command: Command): Command => command.option("-c, --config <file>", "config file");
  about(program.command("login").argument("[server...]", "servers of the config (default: all that need a login)"))
    .description("log in to servers; a running gateway uses the login at once")
    .option("--no-browser", "print the URL instead of opening the browser")
    .option("--device", "log in on another device, with a code")
    .option("--manual", "take the redirect from the terminal, for a browser on another machine")
    .action((ids, options) => done(import("./logins/login.ts").then((it) => it.login(ids, options))));
  about(program.command("logout").argument("[server...]", "servers of the config (default: all)"))
    .description("end the logins at servers")
    .action((ids, options) => done(import("./logins/logout.ts").then((it) => it.logout(ids, options))));
  about(program.command("auth").description("show the logins at servers"))
    .option("--json", "print JSON")
    .action((options) => done(import("./logins/auth.ts").then((it) => it.auth(options))));
}
