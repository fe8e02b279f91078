/**
 * The TLS certificate and key of the gateway, read from their files. An unusable file causes an
 * error that names the file and the fix. When the files change, both are replaced together: until
 * they match, the previous pair stays in use.
 */
import { readFile } from "node:fs/promises";
import { messageOf } from "../../mcp/protocol/errors.ts";

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** The contents of the files. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Calls `onChange` whenever the file at `path` changes. */
export type Watch = (path: string, onChange: () => void) => Promise<{ close(): void }>;

export interface FollowCertificateOptions {
  readonly files: CertificateFiles;
  readonly watch: Watch;
  readonly changed: (certificate: Certificate) => void;
  readonly failed: (message: string) => void;
}

export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const cert = await read(files.cert, "gateway.tls.cert");
  const key = await read(files.key, "gateway.tls.key");
  const { createSecureContext } = await import("node:tls");
  const fits = (parts: Partial<Certificate>, message: string): void => {
    try {
      createSecureContext(parts);
    } catch (cause) {
      throw new Error(message, { cause });
    }
  };
  fits(
    { cert },
    `gateway.tls.cert: ${files.cert} is not a certificate: give one in PEM, followed by its intermediate certificates`,
  );
  fits({ key }, `gateway.tls.key: ${files.key} is not a usable private key: give one in PEM, without a passphrase`);
  fits({ cert, key }, `gateway.tls: the key ${files.key} does not belong to the certificate ${files.cert}`);
  return { cert, key };
}

/** Reloads the files when one of them changes. Returns a function that stops watching. */
export async function followCertificate(options: FollowCertificateOptions): Promise<() => void> {
  const { files, watch, changed, failed } = options;
  let last: Promise<void> = Promise.resolve();
  const look = (): void => {
    last = last.then(async () => {
      try {
        changed(await readCertificate(files));
      } catch (error) {
        failed(messageOf(error));
      }
    });
  };
  const watches = await Promise.all([watch(files.cert, look), watch(files.key, look)]);
  return () => {
    for (const { close } of watches) close();
  };
}

async function read(path: string, name: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === "ENOENT"
        ? "does not exist: correct the path, or remove gateway.tls to listen without encryption"
        : code === "EACCES"
          ? "cannot be read by the user that runs Goblin: change its owner or its mode"
          : `cannot be read (${messageOf(error)})`;
    throw new Error(`${name}: ${path} ${why}`, { cause: error });
  }
}
