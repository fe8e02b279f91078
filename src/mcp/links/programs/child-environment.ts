/**
 * The environment of a program: what programs need to run and what their users set up for them, and
 * the variables of the config entry, which take precedence.
 *
 * By default a program gets no secret of Goblin's: patterns never match a name that sounds like
 * one. Goblin's own variables are passed on only where the config names them one by one.
 */
import { matchesGlob } from "../../../lib/text/glob.ts";

export interface EnvironmentOptions {
  /** Goblin's own environment. */
  readonly from: Readonly<Record<string, string | undefined>>;
  /** The variables of the config entry. */
  readonly own: Readonly<Record<string, string>>;
  /**
   * true: everything. false: only what a program cannot do without. A list: these names and
   * patterns, besides the default.
   */
  readonly inherit?: boolean | readonly string[] | undefined;
  readonly platform?: NodeJS.Platform;
}

/** What a program cannot do without. */
export const minimalNames: readonly string[] = [
  "HOME",
  "PATH",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "LANG",
  "LANGUAGE",
  "LC_*",
  // Windows
  "APPDATA",
  "LOCALAPPDATA",
  "USERPROFILE",
  "USERNAME",
  "USERDOMAIN",
  "HOMEDRIVE",
  "HOMEPATH",
  "TEMP",
  "TMP",
  "ComSpec",
  "PATHEXT",
  "SystemDrive",
  "SystemRoot",
  "windir",
  "OS",
  "ProgramData",
  "ALLUSERSPROFILE",
  "ProgramFiles",
  "ProgramFiles(x86)",
  "ProgramW6432",
  "CommonProgramFiles",
  "CommonProgramFiles(x86)",
  "CommonProgramW6432",
  "NUMBER_OF_PROCESSORS",
  "PROCESSOR_ARCHITECTURE",
  "PSModulePath",
];

/** What users set up for all their programs. */
export const usualNames: readonly string[] = [
  // Networks and certificates
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "no_proxy",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  // Folders and the desktop
  "XDG_*",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "DBUS_SESSION_BUS_ADDRESS",
  "DYLD_*",
  "LD_LIBRARY_PATH",
  // Agents, containers, clouds: where they are, not what they ask for
  "SSH_AUTH_SOCK",
  "SSH_AGENT_PID",
  "GPG_AGENT_INFO",
  "DOCKER_HOST",
  "DOCKER_CONFIG",
  "DOCKER_CONTEXT",
  "DOCKER_CERT_PATH",
  "DOCKER_TLS_VERIFY",
  "CONTAINER_HOST",
  "KUBECONFIG",
  "AWS_PROFILE",
  "AWS_REGION",
  "AWS_DEFAULT_REGION",
  "AWS_CONFIG_FILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "CLOUDSDK_*",
  "AZURE_CONFIG_DIR",
  // Package managers and language tools
  "npm_config_*",
  "NPM_CONFIG_*",
  "NVM_DIR",
  "NVM_BIN",
  "VOLTA_HOME",
  "FNM_*",
  "PNPM_HOME",
  "BUN_INSTALL",
  "COREPACK_*",
  "DENO_DIR",
  "UV_*",
  "PIP_*",
  "PIPX_*",
  "PYENV_ROOT",
  "PLAYWRIGHT_*",
  "PUPPETEER_*",
  "JAVA_HOME",
  "ANDROID_HOME",
  "ANDROID_SDK_ROOT",
  "GOPATH",
  "GOPROXY",
  "CARGO_HOME",
  "RUSTUP_HOME",
];

const SECRET = /token|passw|secret|auth|credential|cookie|(^|_)(api_?)?key$/i;
/** What npx sets for the program that it runs; the next npx would take it for its own options. */
const OF_ONE_RUN = /^npm_config_(package|call)$/i;
const GOBLINS = /^GOBLIN_/i;

export function childEnvironment({
  from,
  own,
  inherit,
  platform = process.platform,
}: EnvironmentOptions): Record<string, string> {
  const isWindows = platform === "win32";
  const spelling = isWindows ? (name: string) => name.toUpperCase() : (name: string) => name;
  const isWanted = choice(inherit, spelling);
  const ownNames = new Set(Object.keys(own).map(spelling));
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    // This prefix marks an exported shell function. Servers do not need it, and some shells would
    // run it.
    if (value === undefined || value.startsWith("()") || ownNames.has(spelling(name))) continue;
    if (isWanted(name)) env[name] = value;
  }
  return { ...env, ...own };
}

function choice(inherit: EnvironmentOptions["inherit"], spelling: (name: string) => string) {
  const chosen = typeof inherit === "object" ? inherit.map(spelling) : [];
  const usual = inherit === false ? minimalNames : [...minimalNames, ...usualNames];
  const exact = new Set([...usual, ...chosen].map(spelling));
  const usualPatterns = usual.filter((name) => name.includes("*")).map(spelling);
  const isIn = (patterns: readonly string[], name: string) => patterns.some((pattern) => matchesGlob(pattern, name));
  return (written: string): boolean => {
    const name = spelling(written);
    if (exact.has(name)) return true;
    if (GOBLINS.test(name)) return false;
    if (inherit === true || isIn(chosen, name)) return true;
    return isIn(usualPatterns, name) && !SECRET.test(name) && !OF_ONE_RUN.test(name);
  };
}
