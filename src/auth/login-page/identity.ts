/**
 * Finds out whether the person in front of a browser is the principal of a link.
 *
 * A browser is a principal's after one proof (`proofs.ts`), for an hour, with a cookie that is new
 * from then on. A proof that names another principal than the link's changes nothing: so no
 * person's account gets to a principal that is not theirs.
 */

import { SealedTexts } from "../../lib/crypto/sealed-texts.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import { LoginError } from "../login/login-error.ts";
import { newVerifier, personToken, personUrl } from "../login/person-login.ts";
import type { PageLink } from "./links.ts";
import { codePage, leavePage, loginPage, type Note, notePage, tokenPage } from "./page.ts";
import { type Proof, ROUND_MS, type Round } from "./proofs.ts";
import { answer, at, redirect } from "./responses.ts";
import type { SiteOptions } from "./site.ts";
import type { Visit, Visits } from "./visits.ts";

/** A link that somebody opened. */
export interface Opened {
  readonly link: PageLink;
  /** The link itself, as it stands in the URL. */
  readonly path: string;
  readonly visit: Visit | undefined;
}

const OTHER = "This link belongs to another user of the gateway than this browser.";
const NOT_YOURS = "That token does not belong to the user of this link.";
const WRONG_CODE = "That is not the code, or it is not valid any more. Run goblin pair again if in doubt.";
const REFUSED = "The gateway does not accept what your login gives. Tell who runs this gateway.";
const UNFINISHED = "It was not begun in this browser, or took too long. Open the link again.";

export class Identity {
  readonly #options: SiteOptions;
  readonly #visits: Visits;
  readonly #rounds: SealedTexts<Round>;

  constructor(options: SiteOptions, visits: Visits) {
    this.#options = options;
    this.#visits = visits;
    this.#rounds = new SealedTexts(options.logins.keyFor("connect"), "goblin connect identity");
  }

  /** Asks the person for a proof. */
  async ask(request: Request, opened: Opened): Promise<Response> {
    const { link, visit } = opened;
    const proof = this.#proofOf(link);
    const isOther = visit?.principal !== undefined && visit.principal !== "";
    const note: Note | undefined = isOther ? { text: OTHER, isBad: true } : undefined;
    const status = isOther ? 403 : 200;
    switch (proof.kind) {
      case "login":
        if (note) return answer(status, loginPage(note, proof.at.issuer, opened.path));
        return this.#leave(opened, proof, false);
      case "code":
        if (await proof.isKnown(request.headers.get("cookie"))) return this.#known(opened, { isAdmin: false });
        return answer(status, codePage(note));
      case "token":
        return answer(status, tokenPage(note, proof.isIssued));
    }
  }

  /** Takes what the person entered; undefined: the form is not one that this class showed. */
  async take(request: Request, form: URLSearchParams, opened: Opened): Promise<Response | undefined> {
    const proof = this.#proofOf(opened.link);
    const [token, code] = [form.get("token"), form.get("code")];
    if (token !== null) {
      const who = await this.#whoHas(token, request);
      if (who?.id === opened.link.principal) return this.#known(opened, who);
      const note = { text: NOT_YOURS, isBad: true };
      return answer(403, tokenPage(note, proof.kind === "token" && proof.isIssued));
    }
    if (code !== null && proof.kind === "code") {
      if (await proof.tryCode(code)) return this.#known(opened, { isAdmin: false });
      return answer(403, codePage({ text: WRONG_CODE, isBad: true }));
    }
    return form.has("again") && proof.kind === "login" ? this.#leave(opened, proof, true) : undefined;
  }

  /** The browser comes back from the issuer. */
  async callback(request: Request, visit: Visit | undefined): Promise<Response> {
    const { base, links } = this.#options;
    const { search, searchParams } = new URL(request.url);
    const state = searchParams.get("state") ?? "";
    const round = this.#rounds.open(state);
    const link = round && round !== "expired" ? links.open(round.link) : undefined;
    const proof = link && link !== "expired" ? this.#proofOf(link) : undefined;
    const isWhole = round && round !== "expired" && link && link !== "expired" && proof?.kind === "login";
    if (!isWhole || !visit || round.visitId !== visit.id) {
      return answer(400, notePage("This login cannot be finished", UNFINISHED));
    }
    const redirectUri = at(base, "identity");
    try {
      const way = { state, verifier: round.verifier, redirectUri };
      const token = await personToken(proof.at, way, new URL(redirectUri + search));
      const who = await this.#whoHas(token, request);
      if (who?.id === link.principal) return this.#known({ link, path: round.link, visit }, who);
      return answer(403, loginPage({ text: who ? OTHER : REFUSED, isBad: true }, proof.at.issuer, round.link));
    } catch (error) {
      // Other errors may hold what the page must not show.
      const text = error instanceof LoginError ? messageOf(error) : "The login failed.";
      return answer(502, loginPage({ text, isBad: true }, proof.at.issuer, round.link));
    }
  }

  /** Leads the browser to the issuer. */
  async #leave(
    { visit, path }: Opened,
    { at: issuer }: Proof & { kind: "login" },
    isAgain: boolean,
  ): Promise<Response> {
    const mine = visit ?? this.#visits.begin(undefined);
    const { base } = this.#options;
    try {
      const verifier = await newVerifier();
      const round = { visitId: mine.id, verifier, link: path, expiresAt: Date.now() + ROUND_MS };
      const way = { state: this.#rounds.seal(round), verifier, redirectUri: at(base, "identity") };
      const url = await personUrl(issuer, way, isAgain);
      return answer(200, leavePage("Show that it is you", url), visit ? {} : this.#keep(mine));
    } catch (error) {
      const text = error instanceof LoginError ? messageOf(error) : "The login failed.";
      return answer(502, loginPage({ text, isBad: true }, issuer.issuer, path));
    }
  }

  /** From now on the browser is the principal's. Its cookie is a new one. */
  #known({ link, path }: Opened, { isAdmin }: Pick<Principal, "isAdmin">): Response {
    const visit = { ...this.#visits.begin(link.principal), isAdmin };
    return redirect(at(this.#options.base, path), this.#keep(visit));
  }

  #whoHas(token: string, request: Request): Promise<Principal | undefined> {
    return this.#options.identify(token, request.headers.get("host") ?? undefined);
  }

  #proofOf(link: PageLink): Proof {
    return this.#options.proofOf(link, this.#options.base);
  }

  #keep(visit: Visit): Record<string, string> {
    return { "set-cookie": this.#visits.cookie(visit, this.#options.base) };
  }
}
