/**
 * RFC 6570 URI templates: parsing and expansion, levels 1 to 4, all operators and modifiers.
 *
 * Invariants: parsing never throws; a problem has a message and a position. The number of variables
 * is capped, so that matching stays bounded for any template.
 *
 * Real servers need two deviations from the RFC. A hyphen may be part of a variable's name.
 * Characters that a literal may not contain are percent-encoded instead of refused.
 */
import { canonicalUri, encodeReserved, encodeUnreserved, tokenize } from "./tokens.ts";

export type TemplateOperator = "" | "+" | "#" | "." | "/" | ";" | "?" | "&";
export type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;
export type TemplateValues = Readonly<Record<string, TemplateValue | undefined>>;

export interface TemplateVariable {
  readonly name: string;
  readonly nameTokens: Uint16Array;
  /** The `:n` modifier in characters, or 0. */
  readonly prefix: number;
  readonly explode: boolean;
}

export interface TemplateLiteral {
  readonly kind: "literal";
  readonly tokens: Uint16Array;
  readonly text: string;
}

export interface TemplateExpression {
  readonly kind: "expression";
  readonly operator: TemplateOperator;
  readonly variables: readonly TemplateVariable[];
}

export interface UriTemplate {
  readonly text: string;
  readonly parts: readonly (TemplateLiteral | TemplateExpression)[];
  /**
   * The number of characters outside of expressions. More of them make a template more specific.
   */
  readonly literalCharacters: number;
  /** The literal before the first expression, in canonical form. A URI without it cannot match. */
  readonly literalPrefix: string;
}

export type TemplateParse =
  | { readonly ok: true; readonly template: UriTemplate }
  | { readonly ok: false; readonly message: string; readonly position: number };

/** The style of an operator's expansion: RFC 6570, appendix A. */
export interface OperatorStyle {
  readonly first: string;
  readonly separator: string;
  readonly named: boolean;
  readonly ifEmpty: string;
  readonly reserved: boolean;
}

export const operatorStyles: Readonly<Record<TemplateOperator, OperatorStyle>> = {
  "": { first: "", separator: ",", named: false, ifEmpty: "", reserved: false },
  "+": { first: "", separator: ",", named: false, ifEmpty: "", reserved: true },
  "#": { first: "#", separator: ",", named: false, ifEmpty: "", reserved: true },
  ".": { first: ".", separator: ".", named: false, ifEmpty: "", reserved: false },
  "/": { first: "/", separator: "/", named: false, ifEmpty: "", reserved: false },
  ";": { first: ";", separator: ";", named: true, ifEmpty: "", reserved: false },
  "?": { first: "?", separator: "&", named: true, ifEmpty: "=", reserved: false },
  "&": { first: "&", separator: "&", named: true, ifEmpty: "=", reserved: false },
};

const MAX_VARIABLES = 128;
const NAME = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:[A-Za-z0-9_.-]|%[0-9A-Fa-f]{2})*$/;

class Fault {
  constructor(
    readonly message: string,
    readonly position: number,
  ) {}
}

export function parseTemplate(text: string): TemplateParse {
  const parts: (TemplateLiteral | TemplateExpression)[] = [];
  let variables = 0;
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("{", at);
    const end = open === -1 ? text.length : open;
    if (end > at) {
      const stray = text.slice(at, end).indexOf("}");
      if (stray !== -1) return fault("'}' without an opening '{'", at + stray);
      parts.push(literal(text.slice(at, end)));
    }
    if (open === -1) break;
    const close = text.indexOf("}", open);
    if (close === -1) return fault("'{' is never closed", open);
    const expression = parseExpression(text.slice(open + 1, close), open + 1);
    if (expression instanceof Fault) return fault(expression.message, expression.position);
    variables += expression.variables.length;
    if (variables > MAX_VARIABLES) return fault(`more than ${MAX_VARIABLES} variables`, open);
    parts.push(expression);
    at = close + 1;
  }
  return { ok: true, template: build(text, parts) };
}

function fault(message: string, position: number): TemplateParse {
  return { ok: false, message: `${message} at position ${position}`, position };
}

function literal(text: string): TemplateLiteral {
  return { kind: "literal", tokens: tokenize(text), text: encodeReserved(text) };
}

function build(text: string, parts: UriTemplate["parts"]): UriTemplate {
  let literalCharacters = 0;
  for (const part of parts) if (part.kind === "literal") literalCharacters += part.tokens.length;
  const head = parts[0];
  const literalPrefix = head?.kind === "literal" ? canonicalUri(head.text) : "";
  return { text, parts, literalCharacters, literalPrefix };
}

function parseExpression(body: string, offset: number): TemplateExpression | Fault {
  const mark = body[0];
  if (mark === undefined) return new Fault("empty expression", offset);
  if ("=,!@|".includes(mark)) return new Fault(`operator '${mark}' is reserved`, offset);
  const operator = "+#./;?&".includes(mark) ? (mark as TemplateOperator) : "";
  const variables: TemplateVariable[] = [];
  let at = offset + operator.length;
  for (const spec of body.slice(operator.length).split(",")) {
    const variable = parseVariable(spec, at);
    if (variable instanceof Fault) return variable;
    variables.push(variable);
    at += spec.length + 1;
  }
  return { kind: "expression", operator, variables };
}

function parseVariable(spec: string, offset: number): TemplateVariable | Fault {
  const explode = spec.endsWith("*");
  const bare = explode ? spec.slice(0, -1) : spec;
  const colon = bare.indexOf(":");
  const name = colon === -1 ? bare : bare.slice(0, colon);
  if (name === "") return new Fault("a variable's name is missing", offset);
  if (!NAME.test(name)) return new Fault(`'${name}' is no variable name`, offset);
  if (colon === -1) return { name, nameTokens: tokenize(name), prefix: 0, explode };
  const length = bare.slice(colon + 1);
  if (!/^[1-9][0-9]{0,3}$/.test(length))
    return new Fault(`'${length}' is no prefix length from 1 to 9999`, offset + colon);
  if (explode) return new Fault("prefix and explode exclude each other", offset + colon);
  return { name, nameTokens: tokenize(name), prefix: Number(length), explode };
}

/** Expands a template to a URI. Variables without a value are left out, as the RFC requires. */
export function expandTemplate(template: UriTemplate, values: TemplateValues): string {
  let uri = "";
  for (const part of template.parts) uri += part.kind === "literal" ? part.text : expandExpression(part, values);
  return uri;
}

function expandExpression(expression: TemplateExpression, values: TemplateValues): string {
  const style = operatorStyles[expression.operator];
  const pieces: string[] = [];
  for (const variable of expression.variables) {
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
    if (value === undefined) continue;
    const piece = expandVariable(variable, value, style);
    if (piece !== undefined) pieces.push(piece);
  }
  return pieces.length === 0 ? "" : style.first + pieces.join(style.separator);
}

function expandVariable(variable: TemplateVariable, value: TemplateValue, style: OperatorStyle): string | undefined {
  const encode = style.reserved ? encodeReserved : encodeUnreserved;
  const pair = (name: string, encoded: string) => name + (encoded === "" ? style.ifEmpty : `=${encoded}`);
  if (typeof value === "string") {
    const cut = variable.prefix === 0 ? value : [...value].slice(0, variable.prefix).join("");
    return style.named ? pair(variable.name, encode(cut)) : encode(cut);
  }
  const items: [string | undefined, string][] = isList(value)
    ? value.map((item) => [undefined, encode(item)])
    : Object.entries(value).map(([key, item]) => [encode(key), encode(item)]);
  // The RFC gives a prefix of a list or map no meaning, so the value counts as missing.
  if (items.length === 0 || variable.prefix > 0) return undefined;
  if (!variable.explode) {
    const joined = items.map(([key, item]) => (key === undefined ? item : `${key},${item}`)).join(",");
    return style.named ? pair(variable.name, joined) : joined;
  }
  return items
    .map(([key, item]) => {
      if (style.named) return pair(key ?? variable.name, item);
      return key === undefined ? item : `${key}=${item}`;
    })
    .join(style.separator);
}

function isList(value: Exclude<TemplateValue, string>): value is readonly string[] {
  return Array.isArray(value);
}
