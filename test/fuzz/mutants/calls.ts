import { type Mutant, mutantOf } from "./mutant.ts";

/** Mutants of how calls are found and announced. */
export const calls: Mutant[] = [];
const add = (...parts: Parameters<typeof mutantOf>): void => {
  calls.push(mutantOf(...parts));
};

const loose = 'return tag.close ? this.#loose !== "none" : !tag.empty;';

add(
  "plain-text",
  "text does not wait for a tag",
  'tag === "partial" || (tag !== "none" &&',
  '(tag !== "none" && tag !== "partial" &&',
);
add("plain-text", "code fences do not count", 'markdown.fenced ? "none" : readTag', "readTag");
add("plain-text", "a run of brackets hides a tag", "return Math.max(at, end - MAX_OPENERS);", "return end;");
add("automaton", "an empty wrapper opens", loose, 'return tag.close ? this.#loose !== "none" : true;');
add("automaton", "closing wrappers are always swallowed", loose, "return tag.close || !tag.empty;");
add("automaton", "closing wrappers are never swallowed", loose, "return !tag.close && !tag.empty;");
add(
  "automaton",
  "end tags of a lost invoke show",
  'if (tag.close) return this.#loose === "invoke";',
  "if (tag.close) return false;",
);
add(
  "automaton",
  "a refused wrapper leaves orphans",
  "(!this.#refused && offset >= this.#guard)",
  "offset >= this.#guard",
);
add("automaton", "refusal has no end", 'if (tag.close && this.#loose === "none") this.#refused = false;', "");
add(
  "automaton",
  "failed orphans are tried again",
  "(!this.#refused && offset >= this.#guard)",
  "!this.#refused && offset > -1",
);
add("automaton", "an orphan needs no closing wrapper", "this.#orphan = true;", "this.#orphan = false;");
add("automaton", "an orphan is sent at once", "this.#output.guess();", "");
add(
  "automaton",
  "a failed orphan is lost",
  "this.#input.rewind();\n    this.#orphan = false;",
  "this.#input.release();\n    this.#orphan = false;",
);
add(
  "automaton",
  "a failed orphan is kept",
  "#fail(): boolean {\n    this.#output.drop();",
  "#fail(): boolean {\n    this.#output.keep();",
);
add(
  "automaton",
  "refused text is lost",
  "this.#output.text(raw);\n    this.#markdown.feed(raw);\n    this.#bad",
  "this.#markdown.feed(raw);\n    this.#bad",
);
add(
  "automaton",
  "refused text is no Markdown",
  "this.#output.text(raw);\n    this.#markdown.feed(raw);\n    this.#bad",
  "this.#output.text(raw);\n    this.#bad",
);
add(
  "automaton",
  "white space behind a wrapper has no bound",
  "if (input.recorded > HOLD) return this.#refuse(false);",
  "",
);
add(
  "automaton",
  "a wrapper does not wait for its invoke",
  'if (tag === "partial") return false;\n    if (tag === "none" || !opensInvoke(tag)) return this.#refuse(true);',
  'if (tag === "partial" || tag === "none" || !opensInvoke(tag)) return this.#refuse(true);',
);
add(
  "automaton",
  "a refused wrapper is only a mention",
  "!opensInvoke(tag)) return this.#refuse(true);",
  "!opensInvoke(tag)) return this.#refuse(false);",
);
add(
  "automaton",
  "a mention is a refused wrapper",
  "!== OPENER) return this.#refuse(false);",
  "!== OPENER) return this.#refuse(true);",
);
add(
  "automaton",
  "an invoke does not wait for its parameter",
  'if (tag === "partial") return false;\n    if (tag === "none" || !(opensParameter',
  'if (tag === "partial") return this.#refuse(true);\n    if (tag === "none" || !(opensParameter',
);
add(
  "automaton",
  "a call is announced at its invoke",
  'if (tag === "none" || !(opensParameter(tag) || closes(tag, "invoke"))) return this.#refuse(true);',
  "",
);
add(
  "automaton",
  "only parameters announce",
  '!(opensParameter(tag) || closes(tag, "invoke"))',
  "!opensParameter(tag)",
);
add("automaton", "text may follow an invoke", "if (UNITS[unit] !== OPENER) return this.#refuse(true);", "");
add("automaton", "block quotes are no space", "while (this.#markdown.quoted &&", "while (!this.#markdown &&");
add(
  "automaton",
  "inline spans do not count",
  "if (this.#markdown.openRuns === 0) return false;",
  "return false;",
);
add(
  "automaton",
  "an unclosed backtick is a span",
  "this.#input.rewind();\n      this.#markdown.forgetRuns();",
  "this.#output.text(this.#input.release());",
);
add(
  "automaton",
  "an orphan in a span is called",
  "if (this.#markdown.openRuns > 0) {",
  "if (this.#markdown.openRuns < 0) {",
);
add("automaton", "a malformed call is no fault", "if (invocation?.malformed) this.#bad = true;", "");
add("automaton", "an orphan may be malformed", "if (this.#orphan && this.#bad) return this.#fail();", "");
add(
  "automaton",
  "an orphan may be cut",
  'if (this.#orphan && outcome !== "closed") return this.#fail();',
  "",
);
add(
  "automaton",
  "a cut call is completed",
  'if (outcome === "cut") invocation?.call.leave();\n    else invocation?.call.end();',
  "invocation?.call.end();",
);
add(
  "automaton",
  "invokes do not wait for a tag",
  'if (tag === "partial") return false;\n    if (tag !== "none" && closes',
  'if (tag !== "none" && tag !== "partial" && closes',
);
add("automaton", "a malformed second invoke is no fault", 'if (tag !== "none") this.#bad = true;', "");
add(
  "automaton",
  "text between invokes is lost",
  "this.#markdown.skip();\n    this.#output.text(raw);",
  "this.#markdown.skip();",
);
add("automaton", "text between invokes closes the wrapper", "this.#loose = open;", 'this.#loose = "none";');
add(
  "automaton",
  "a whole malformed wrapper stands",
  "if (this.#whole && this.#bad) {",
  "if (this.#whole && !this.#whole) {",
);
add(
  "automaton",
  "a good call clears no fault",
  "this.#bad = false;\n    this.#refused = false;",
  "this.#refused = false;",
);
add(
  "json-body",
  "tags are not waited for",
  'if (tag === "partial") return "open";',
  'if (tag === "partial") return "refused";',
);
add(
  "json-body",
  "the first end tag ends it",
  'if (source === undefined && ++this.#ends > MAX_ENDS) return "refused";',
  'if (source === undefined) return "refused";',
);
add("json-body", "it is never given up", "(!tag.close || this.#idle)", "!tag.close");
add("json-body", "wrappers are part of it", "(!tag.close || this.#idle)", "this.#idle");
add("span-watch", "spans reach over paragraphs", 'if (markdown.blocks !== this.#blocks) return "plain";', "");
add("span-watch", "spans never close", 'if (markdown.openRuns < this.#openRuns) return "code";', "");
add("span-watch", "runs are not settled", "if (unit !== TICK) markdown.endRun();", "");
add(
  "invocation",
  "tags are not waited for",
  'if (!input.final) return "open";\n      input.at = input.text.length;\n      return this.#end();',
  "input.at = input.text.length;\n      return this.#end();",
);
add(
  "invocation",
  "a text cut off has ended",
  "this.#input.cut || this.#options.unclosed.all",
  "this.#options.unclosed.all",
);
add(
  "invocation",
  "unclosed CDATA needs no end tag",
  "this.#input.cut || this.#options.unclosed.all",
  "this.#input.cut",
);
add(
  "invocation",
  "CDATA is repaired at a cut",
  "!this.#options.orphan && !input.cut &&",
  "!this.#options.orphan &&",
);
add("invocation", "garbage at a cut is text", 'return input.cut ? "cut" : "lost";', 'return "lost";');
add("invocation", "what is certain at the end is lost", "body.leave();", "");
add("arguments", "finished values wait for ever", "if (!this.#whole && !this.#streaming) this.#flush();", "");
add("invocation", "what does not belong is no fault", "this.#malformed = true;\n    if (tag", "if (tag");
add(
  "invocation",
  "an unfinished parameter is no fault",
  'if (body.state === "broken") this.#malformed = true;',
  "",
);
add(
  "invocation",
  "the search does not wait for a tag",
  'if (tag === "partial") return "open";\n        if',
  "if",
);
add("invocation", "the search has no bound", 'if (input.recorded > MAX_GARBAGE) return "lost";', "");
add("output", "the index does not grow", "this.#next++", "this.#next");
add("output", "a dropped guess keeps its index", "if (this.#guess) this.#next = this.#guess.next;", "");
add("output", "restoring keeps the index", "this.#next = saved.next;", "");
add("output", "restoring keeps the events", "this.#events.length = saved.length;", "");
add("output", "characters are split", "if (last >= 0xd800 && last <= 0xdbff) {", "if (last < 0) {");
add("output", "the last half is lost", "if (final) this.#flushHalf();", "");
add(
  "input",
  "nothing is recorded over pieces",
  "this.#record.text += this.text.slice(this.#record.from, this.at);",
  "",
);
add(
  "scanner",
  "a failure goes out",
  "this.#failed = true;\n",
  "this.#failed = true;\n      throw new Error();\n",
);
add(
  "invocation",
  "unclosed CDATA is not repaired",
  'if (!this.#options.orphan && !input.cut && this.#recover(body)) return "next";',
  "",
);
add(
  "invocation",
  "only one CDATA is repaired at the end",
  "if (reopened === undefined) unclosed.all = true;\n    else",
  "if (reopened !== undefined)",
);
add(
  "invocation",
  "only one CDATA is repaired within",
  "if (reopened !== undefined) unclosed.before = input.offset + reopened;",
  "",
);
add(
  "invocation",
  "the last CDATA is repaired too",
  "unclosed.before = input.offset + reopened;",
  "unclosed.before = input.offset + reopened + 1;",
);
