import { type Mutant, mutantOf } from "./mutant.ts";

/** Mutants of how parameters are read. */
export const values: Mutant[] = [];
const add = (...parts: Parameters<typeof mutantOf>): void => {
  values.push(mutantOf(...parts));
};

add(
  "arguments",
  "characters are split",
  "const split = last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;",
  "const split = text.length;",
);
add(
  "arguments",
  "repeated names are not gathered",
  "for (const source of sources) sent.push(source);",
  "sent.splice(0, sent.length, ...sources);",
);
add("arguments", "a repeated string is sent again", "!this.#sent.has(name) && ", "");
add(
  "arguments",
  "a value does not wait for a repetition",
  "if (!this.#whole && !this.#waiting.has(name)) this.#flush();\n    const",
  "this.#flush();\n    const",
);
add("arguments", "whole arguments repeat names", "return !this.#whole && ", "return ");
add(
  "body",
  "entities are not waited for",
  'if (entity === "partial") return at;',
  'if (entity === "partial") return this.#literal(source, at, at + 1);',
);
add(
  "body",
  "CDATA is not waited for",
  'if (cdata === "partial") return at;\n    if',
  'if (cdata === "partial") return this.#literal(source, at, at + 1);\n    if',
);
add(
  "body",
  "what follows an invoke is not waited for",
  'if (follows === "partial") return at;',
  'if (follows === "partial") return this.#literal(source, at, tag.end);',
);
add(
  "body",
  "one end tag ends all calls in a body",
  "if (last === kind) break;",
  "if (kind === undefined) break;",
);
add("body", "calls in a body are not followed", "this.#nested.push(tag.kind);", "void within;");
add("body", "orphans swallow calls", "if (calls && this.#options.alone) {", "if (calls && !this.#options) {");
add("body", "the second bracket eats text", "if (tag.doubled && !(", "if (!tag.doubled && !(");
add(
  "value",
  "white space at the end is sent",
  'this.#gap = core === "" ? this.#gap + piece : piece.slice(core.length);',
  "this.#take(piece.slice(core.length));",
);
add(
  "value",
  "strings wait for their end",
  "if (!this.#isPlain() || !this.#writer.canStream(this.#name)) return;",
  "return;",
);
add("value", "undeclared strings do not wait", "const WAIT = 128;", "const WAIT = 0;");
add("value", "declared strings are literals", 'if (this.#wanted === "text") return text;', "");
add(
  "value",
  "literals are sent as strings",
  'this.#wanted === "text" || (!this.#maybe && this.#length >= WAIT)',
  'this.#wanted === "text" || this.#length >= WAIT',
);
add(
  "body",
  "end tags are not waited for",
  'if (tag === "partial") return at;\n    if (tag === "none" && final',
  'if (tag === "partial") return this.#literal(source, at, at + 1);\n    if (tag === "none" && final',
);
add("body", "foreign end tags count", 'tag === "none" || !this.#around.owns(tag)\n', 'tag === "none"\n');
add(
  "body",
  "half a closing tag is text",
  'if (tag === "none" && final && this.#isOver(source, at)) return source.length;',
  "",
);
add("body", "half an opening of CDATA is text", "(!this.#value.bare && endsInCdata(source, at))", "false");
add(
  "body",
  "half a CDATA opening ends any text",
  "(!this.#value.bare && endsInCdata(source, at))",
  "endsInCdata(source, at)",
);
add("body", "a bracket is always half a tag", "behind ? 1 : 2", "behind ? 1 : 1");
add("body", "a bracket behind CDATA is text", "behind ? 1 : 2", "behind ? 2 : 2");
add("body", "an end tag of an invoke counts at a cut", "final && !this.#cut, (next)", "final, (next)");
add(
  "body",
  "no text is read behind CDATA without end",
  'return state === "swallowing" ? this.#readText(source, next, final) : next;',
  "return next;",
);
add(
  "surroundings",
  "half a closing tag closes nothing",
  "return final && this.endsInClosingTag(source, next, 1);",
  "return false;",
);
add(
  "surroundings",
  "CDATA is looked for however far",
  'if (next - at > LOOK_AHEAD) return false;\n    if (next === source.length) return final ? false : "partial";',
  'if (next === source.length) return final ? false : "partial";',
);
add(
  "surroundings",
  "CDATA is not waited for",
  'if (next === source.length) return final ? false : "partial";',
  "if (next === source.length) return false;",
);
add(
  "quoted",
  "end tags are not waited for",
  'if (tag === "partial") return at;',
  'if (tag === "partial") return this.#keepStepped(source, at, at + 1);',
);
add(
  "quoted",
  "end marks are not waited for",
  'if (mark === "partial") return at;',
  'if (mark === "partial") return this.#keepStepped(source, at, at + 1);',
);
add("quoted", "what follows CDATA is not waited for", 'if (closing === "partial") return at;', "");
add(
  "quoted",
  "another section is not waited for",
  'const section = this.#around.cdataFollows(source, end, final);\n    if (section === "partial") return at;',
  "const section = this.#around.cdataFollows(source, end, final);",
);
add(
  "quoted",
  "fences in CDATA do not count",
  "if (markdown.fenced && !this.#options.loose) {",
  "if (markdown.fenced && this.#options.loose) {",
);
add(
  "quoted",
  "doubtful text is sent",
  "if (this.#doubt) this.#doubt.text += piece;\n    else this",
  "if (this.#doubt) this.#doubt.text += piece;\n    this",
);
add(
  "quoted",
  "doubtful text is lost",
  "this.#value.addVerbatim(this.#doubt.text);\n    this.#doubt",
  "this.#doubt",
);
add(
  "quoted",
  "no end tag makes doubt",
  "this.#doubt ??= doubtFrom(0);\n      if (fenced) return true;",
  "if (fenced || !this.#doubt) return true;",
);
add("quoted", "no end mark makes doubt", "this.#doubt.mark = end - at;", "");
add("quoted", "half an end mark makes no doubt", "if (closing) this.#doubt ??= doubtFrom(end - at);", "");
add(
  "quoted",
  "later CDATA is not loose",
  "if (tag.close && this.#options.loose) {",
  "if (tag.close && !this.#options) {",
);
add("quoted", "tags in fences show that CDATA is not closed", "if (fenced) return true;", "");
add(
  "quoted",
  "parameters in fences show that CDATA is not closed",
  "} else if (!fenced && opensParameter(tag)",
  "} else if (opensParameter(tag)",
);
add(
  "quoted",
  "parameters within CDATA do not count",
  "if (this.#within > 0) this.#within--;\n      else this",
  "this",
);
add(
  "quoted",
  "any parameter shows that CDATA is not closed",
  "if (section) this.#doubt.reopened",
  "this.#doubt.reopened",
);
add("quoted", "CDATA behind a parameter is not waited for", 'if (section === "partial") return false;', "");
add(
  "quoted",
  "nothing shows that CDATA is not closed",
  "if (closing && this.#options.repairable && this.#doubt?.reopened !== undefined) {",
  "if (closing && !this.#options && this.#doubt?.reopened !== undefined) {",
);
add(
  "quoted",
  "sections show that CDATA is not closed",
  "if (closing && this.#options.repairable &&",
  "if (this.#options.repairable &&",
);
add(
  "quoted",
  "half an end mark stays before a repair",
  "from === marked ? doubt.kept : from",
  "shown ? from : doubt.kept",
);
add("conform", "null becomes a text", 'kind !== "null" && !declared', "!declared");
add("conform", "what no string may be becomes one", '&& declared.allows("string")) {', ") {");
add("value", "what may be a string is none", 'if (declared.allows("string")) return text;', "");
add(
  "value",
  "repeated values are not fitted",
  'declared.allows("array") ? conform(source, declared.item(0)) : source',
  "source",
);
add(
  "declared",
  "patterns do not count",
  "patternProperties === undefined ? additionalProperties : undefined",
  "additionalProperties",
);
add("declared", "circles never end", "steps.left < 0) return null;\n  const", "false) return null;\n  const");
add(
  "declared",
  "alternatives are not bounded",
  "some.length * others.length > MAX_ALTERNATIVES",
  "some.length < 0",
);
add("quoted", "half a closing tag is text", "final && !this.#doubt &&", "final && !this.#state &&");
add("quoted", "half a closing tag hides an end tag", "final && !this.#doubt &&", "final &&");
add(
  "value",
  "drifted CDATA counts in any text",
  'return this.#wanted !== "text" && this.#maybe && this.#lead === "<" && this.#tail === ">";',
  "return true;",
);
add(
  "value",
  "drifted CDATA counts in no element",
  'return this.#wanted !== "text" && this.#maybe && this.#lead === "<" && this.#tail === ">";',
  "return false;",
);
add(
  "quoted",
  "CDATA ends at any mark",
  "(this.#options.guarded && !this",
  "(!this.#options.guarded && !this",
);
add("quoted", "CDATA ends at any drifted mark", 'const text = kind === "drifted" || (', "const text = (");
