/** Explains why a request got no answer from a gateway, in a sentence that says what to do. */
interface Cause {
  readonly code?: string;
  readonly message?: string;
}

export interface Attempt {
  readonly url: string;
  /** The address was given with --url. */
  readonly named: boolean;
}

export function unreachable({ url, named }: Attempt, error: unknown): string {
  const { cause } = error as { cause?: Cause };
  const code = cause?.code ?? "";
  if (code === "ECONNREFUSED") {
    const other = named ? "" : ", name one with --url, or use a config without a gateway with --config";
    return `no gateway is listening on ${url}: start one with "goblin serve"${other}`;
  }
  if (url.startsWith("https:") && /^(ERR_SSL_|EPROTO)/.test(code)) {
    return `${url} does not speak https: if it is plain http, name it as ${url.replace("https:", "http:")}`;
  }
  if (url.startsWith("http:") && /^(UND_ERR_SOCKET|ECONNRESET|HPE_)/.test(code)) {
    const secure = url.replace("http:", "https:");
    return `${url} closed the connection without an answer: if it speaks https, name it as ${secure}`;
  }
  return `${url} cannot be reached: ${cause?.message ?? String(error)}`;
}
