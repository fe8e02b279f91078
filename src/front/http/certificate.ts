/**
 * The certificate and the key that the gateway shows to clients, read from their files. What cannot
 * be used is an error that names the file and says what to do. Files that change are taken up
 * together: until both fit, those before stay in use.
 */
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { messageOf } from "../../protocol/errors.ts";

/** The paths. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** What is in the files. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Calls `onChange` whenever the file at `path` is another. */
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
  const fits = (parts: Partial<Certificate>, message: string): void => {
    try {
      createSecureContext(parts);
    } catch (cause) {
      throw new Error(message, { cause });
    }
  };
  fits(
    { cert },
    `gateway.tls.cert: ${files.cert} is no certificate: give one in PEM, followed by those that it depends on`,
  );
  fits(
    { key },
    `gateway.tls.key: ${files.key} is no private key that can be used: give one in PEM, without a passphrase`,
  );
  fits({ cert, key }, `gateway.tls: the key ${files.key} does not belong to the certificate ${files.cert}`);
  return { cert, key };
}

/** Reads the files again when one of them changes; answers how to stop that. */
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
        ? "does not exist: correct the path, or take gateway.tls out to listen without encryption"
        : code === "EACCES"
          ? "may not be read by the user that runs Goblin: change its owner or its mode"
          : `cannot be read (${messageOf(error)})`;
    throw new Error(`${name}: ${path} ${why}`, { cause: error });
  }
}
