/** The gateway's own key at an authorization server (RFC 7523), from PEM text to what signs. */
import { createPrivateKey, type KeyObject, webcrypto } from "node:crypto";

type Algorithm = webcrypto.RsaHashedImportParams | webcrypto.EcKeyImportParams | { readonly name: string };

const CURVES: Readonly<Record<string, webcrypto.EcKeyImportParams>> = {
  prime256v1: { name: "ECDSA", namedCurve: "P-256" },
  secp384r1: { name: "ECDSA", namedCurve: "P-384" },
  secp521r1: { name: "ECDSA", namedCurve: "P-521" },
};

/** Rejects with an error that says what is wrong with the key, and nothing of the key. */
export async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const key = read(pem);
  const algorithm = algorithmOf(key);
  if (!algorithm)
    throw new Error('"auth.privateKey" is of a kind that no authorization server takes; use RSA or P-256');
  const bytes = key.export({ type: "pkcs8", format: "der" });
  return webcrypto.subtle.importKey("pkcs8", new Uint8Array(bytes), algorithm, false, ["sign"]);
}

function algorithmOf({ asymmetricKeyType: kind, asymmetricKeyDetails: details }: KeyObject): Algorithm | undefined {
  if (kind === "rsa") return { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  if (kind === "ed25519") return { name: "Ed25519" };
  return kind === "ec" ? CURVES[details?.namedCurve ?? ""] : undefined;
}

function read(pem: string): KeyObject {
  try {
    // In an environment variable, line breaks are often written as two characters.
    return createPrivateKey(pem.replaceAll("\\n", "\n"));
  } catch {
    throw new Error('"auth.privateKey" is not a private key in PEM form');
  }
}
