/**
 * The part of docs/configuration.md about how a server is started or reached. A test compares the
 * names of the variables with those in use.
 */
export const STARTS = `### How a program starts

- The first start of a program may take five minutes, and so may every start of a package runner:
  npx, uvx, bunx, pnpx, \`npm exec\`, \`pnpm dlx\`, \`yarn dlx\`, \`bun x\`, \`uv run\`, \`uv tool\`,
  \`pipx run\`, \`deno run\`, \`docker run\` and \`podman run\`, also behind \`cmd /c\`, \`env\` or \`sh -c\`. It
  may be installing, and an install that is broken off can stay broken. Any other start may take
  \`timeouts.connectMs\`.
- Until a package runner's server answers, its state is \`installing\`, and its reason says how much
  time is left. Three package runners start at a time. The next one follows when one has answered
  or failed, and after 20 seconds at the latest.
- If a program ends or cannot be started, its reason says why: the exit code with the last words on
  stderr, what it printed instead of MCP, or what is wrong with \`command\` and \`cwd\`. An incomplete
  npx folder is named with the command that removes it; Goblin does not remove it by itself.
- On Windows a command is looked up in PATH with the endings of PATHEXT, and \`.cmd\` and \`.bat\` files
  run in cmd.exe. A program is ended together with everything that it started.

### What a program inherits

A program does not get Goblin's whole environment, which may hold the keys of other servers.

- **The minimum**, with \`inheritEnv: false\`: \`HOME\`, \`PATH\`, \`USER\`, \`LOGNAME\`, \`SHELL\`, \`TERM\`,
  \`TMPDIR\`, \`TZ\`, \`LANG\`, \`LANGUAGE\` and \`LC_*\`. On Windows also \`APPDATA\`, \`LOCALAPPDATA\`,
  \`USERPROFILE\`, \`USERNAME\`, \`USERDOMAIN\`, \`HOMEDRIVE\`, \`HOMEPATH\`, \`TEMP\`, \`TMP\`, \`ComSpec\`,
  \`PATHEXT\`, \`SystemDrive\`, \`SystemRoot\`, \`windir\`, \`OS\`, \`ProgramData\`, \`ALLUSERSPROFILE\`,
  \`ProgramFiles\` and \`CommonProgramFiles\` (with their forms \`(x86)\` and \`W6432\`),
  \`NUMBER_OF_PROCESSORS\`, \`PROCESSOR_ARCHITECTURE\` and \`PSModulePath\`.
- **The usual ones**, by default, are the minimum and:
  - networks: \`HTTP_PROXY\`, \`HTTPS_PROXY\`, \`ALL_PROXY\` and \`NO_PROXY\` (also in lower case),
    \`NODE_EXTRA_CA_CERTS\`, \`SSL_CERT_FILE\`, \`SSL_CERT_DIR\`, \`REQUESTS_CA_BUNDLE\`, \`CURL_CA_BUNDLE\`
  - the desktop: \`DISPLAY\`, \`WAYLAND_DISPLAY\`, \`XAUTHORITY\`, \`DBUS_SESSION_BUS_ADDRESS\`, \`XDG_*\`,
    \`DYLD_*\`, \`LD_LIBRARY_PATH\`
  - agents, containers and clouds: \`SSH_AUTH_SOCK\`, \`SSH_AGENT_PID\`, \`GPG_AGENT_INFO\`,
    \`DOCKER_HOST\`, \`DOCKER_CONFIG\`, \`DOCKER_CONTEXT\`, \`DOCKER_CERT_PATH\`, \`DOCKER_TLS_VERIFY\`,
    \`CONTAINER_HOST\`, \`KUBECONFIG\`, \`AWS_PROFILE\`, \`AWS_REGION\`, \`AWS_DEFAULT_REGION\`,
    \`AWS_CONFIG_FILE\`, \`AWS_SHARED_CREDENTIALS_FILE\`, \`GOOGLE_APPLICATION_CREDENTIALS\`,
    \`CLOUDSDK_*\`, \`AZURE_CONFIG_DIR\`
  - package managers and languages: \`npm_config_*\`, \`NPM_CONFIG_*\`, \`NVM_DIR\`, \`NVM_BIN\`,
    \`VOLTA_HOME\`, \`FNM_*\`, \`PNPM_HOME\`, \`BUN_INSTALL\`, \`COREPACK_*\`, \`DENO_DIR\`, \`UV_*\`, \`PIP_*\`,
    \`PIPX_*\`, \`PYENV_ROOT\`, \`PLAYWRIGHT_*\`, \`PUPPETEER_*\`, \`JAVA_HOME\`, \`ANDROID_HOME\`,
    \`ANDROID_SDK_ROOT\`, \`GOPATH\`, \`GOPROXY\`, \`CARGO_HOME\`, \`RUSTUP_HOME\`
- **More**: \`inheritEnv: ["GITHUB_TOKEN", "MY_*"]\` adds names and patterns, \`inheritEnv: true\` adds
  everything.

A pattern of the default never matches a name that sounds like a secret (\`UV_PUBLISH_TOKEN\`).
Variables whose names begin with \`GOBLIN_\` are passed on only if a list has the whole name. \`env\`
and \`envFile\` of the entry take precedence.

### How a remote server is reached

- **Proxies.** Goblin uses \`HTTPS_PROXY\` for https, \`HTTP_PROXY\` for http and \`ALL_PROXY\` for both,
  in capitals or not, and obeys \`NO_PROXY\` (names with all below them, addresses, \`name:port\`, \`*\`).
  A proxy is an \`http://\` or \`https://\` address; SOCKS is not supported. Addresses of this machine
  never go through a proxy.
- **Redirects** are followed when a connection is made, at most five: on the same origin, and from
  http to https on the same host. A POST follows 307 and 308 only. The entry's \`headers\` are sent to
  the origin of its \`url\` and to no other. Any other redirect leaves the server down, and its reason
  names the target.
`;
