// @ts-check
// The bill of materials of what is published, in the format CycloneDX: the packages whose code is
// in the bundle, each with the digest that npm installed it by. `npm sbom` would list every tool of
// the developers, or, without these, nothing: what is bundled is no dependency.

/**
 * @typedef {{ name: string, version: string, license?: string }} Package
 * @param {Package} own the package that is published
 * @param {readonly (Package & { integrity?: string | undefined })[]} bundled
 */
export function sbom(own, bundled) {
  const component = (/** @type {Package} */ { name, version, license }) => ({
    "bom-ref": purl(name, version),
    name,
    version,
    purl: purl(name, version),
    ...(license && { licenses: [{ license: { id: license } }] }),
  });
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", ...component(own) } },
    components: bundled.map((one) => ({ type: "library", ...component(one), ...hashes(one.integrity) })),
    dependencies: [{ ref: purl(own.name, own.version), dependsOn: bundled.map((one) => purl(one.name, one.version)) }],
  };
}

/** @param {string} name @param {string} version */
function purl(name, version) {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** @param {string | undefined} integrity */
function hashes(integrity) {
  const [, digest] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
  return digest ? { hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] } : {};
}
