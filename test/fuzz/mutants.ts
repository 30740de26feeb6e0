/**
 * Checks the tests of the tool scanner: every hold-back, index increment and commit condition is removed in turn, in a
 * copy, and some test must fail. Run it with `node test/fuzz/mutants.ts`; arguments select mutants by parts of their names.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Mutant {
  name: string;
  file: string;
  from: string;
  to: string;
}

const LIMIT = 120_000;
const mutants: Mutant[] = [];
const mutant = (file: string, name: string, from: string, to: string): void => {
  mutants.push({ file: `${file}.ts`, name: `${file}: ${name}`, from, to });
};

const loose = 'return tag.close ? this.#loose !== "none" : !tag.empty;';
mutant(
  "plain-text",
  "text does not wait for a tag",
  'tag === "partial" || (tag !== "none" &&',
  '(tag !== "none" && tag !== "partial" &&',
);
mutant("plain-text", "code fences do not count", 'markdown.fenced ? "none" : readTag', "readTag");
mutant(
  "plain-text",
  "a run of brackets hides a tag",
  "return Math.max(at, end - MAX_OPENERS);",
  "return end;",
);
mutant("automaton", "an empty wrapper opens", loose, 'return tag.close ? this.#loose !== "none" : true;');
mutant("automaton", "closing wrappers are always swallowed", loose, "return tag.close || !tag.empty;");
mutant("automaton", "closing wrappers are never swallowed", loose, "return !tag.close && !tag.empty;");
mutant(
  "automaton",
  "end tags of a lost invoke show",
  'if (tag.close) return this.#loose === "invoke";',
  "if (tag.close) return false;",
);
mutant(
  "automaton",
  "a refused wrapper leaves orphans",
  "(!this.#refused && offset >= this.#guard)",
  "offset >= this.#guard",
);
mutant(
  "automaton",
  "refusal has no end",
  'if (tag.close && this.#loose === "none") this.#refused = false;',
  "",
);
mutant(
  "automaton",
  "failed orphans are tried again",
  "(!this.#refused && offset >= this.#guard)",
  "!this.#refused && offset > -1",
);
mutant("automaton", "an orphan needs no closing wrapper", "this.#orphan = true;", "this.#orphan = false;");
mutant("automaton", "an orphan is sent at once", "this.#output.guess();", "");
mutant(
  "automaton",
  "a failed orphan is lost",
  "this.#input.rewind();\n    this.#orphan = false;",
  "this.#input.release();\n    this.#orphan = false;",
);
mutant(
  "automaton",
  "a failed orphan is kept",
  "#fail(): boolean {\n    this.#output.drop();",
  "#fail(): boolean {\n    this.#output.keep();",
);
mutant(
  "automaton",
  "refused text is lost",
  "this.#output.text(raw);\n    this.#markdown.feed(raw);\n    this.#bad",
  "this.#markdown.feed(raw);\n    this.#bad",
);
mutant(
  "automaton",
  "refused text is no Markdown",
  "this.#output.text(raw);\n    this.#markdown.feed(raw);\n    this.#bad",
  "this.#output.text(raw);\n    this.#bad",
);
mutant(
  "automaton",
  "white space behind a wrapper has no bound",
  "if (input.recorded > HOLD) return this.#refuse(false);",
  "",
);
mutant(
  "automaton",
  "a wrapper does not wait for its invoke",
  'if (tag === "partial") return false;\n    if (tag === "none" || !opensInvoke(tag)) return this.#refuse(true);',
  'if (tag === "partial" || tag === "none" || !opensInvoke(tag)) return this.#refuse(true);',
);
mutant(
  "automaton",
  "a refused wrapper is only a mention",
  "!opensInvoke(tag)) return this.#refuse(true);",
  "!opensInvoke(tag)) return this.#refuse(false);",
);
mutant(
  "automaton",
  "a mention is a refused wrapper",
  "!== OPENER) return this.#refuse(false);",
  "!== OPENER) return this.#refuse(true);",
);
mutant(
  "automaton",
  "an invoke does not wait for its parameter",
  'if (tag === "partial") return false;\n    if (tag === "none" || !(opensParameter',
  'if (tag === "partial") return this.#refuse(true);\n    if (tag === "none" || !(opensParameter',
);
mutant(
  "automaton",
  "a call is announced at its invoke",
  'if (tag === "none" || !(opensParameter(tag) || closes(tag, "invoke"))) return this.#refuse(true);',
  "",
);
mutant(
  "automaton",
  "only parameters announce",
  '!(opensParameter(tag) || closes(tag, "invoke"))',
  "!opensParameter(tag)",
);
mutant(
  "automaton",
  "text may follow an invoke",
  "if (UNITS[unit] !== OPENER) return this.#refuse(true);",
  "",
);
mutant(
  "automaton",
  "block quotes are no space",
  "while (this.#markdown.quoted &&",
  "while (!this.#markdown &&",
);
mutant(
  "automaton",
  "inline spans do not count",
  "if (this.#markdown.openRuns === 0) return false;",
  "return false;",
);
mutant(
  "automaton",
  "an unclosed backtick is a span",
  "this.#input.rewind();\n      this.#markdown.forgetRuns();",
  "this.#output.text(this.#input.release());",
);
mutant(
  "automaton",
  "an orphan in a span is called",
  "if (this.#markdown.openRuns > 0) {",
  "if (this.#markdown.openRuns < 0) {",
);
mutant("automaton", "a malformed call is no fault", "if (invocation?.malformed) this.#bad = true;", "");
mutant("automaton", "an orphan may be malformed", "if (this.#orphan && this.#bad) return this.#fail();", "");
mutant(
  "automaton",
  "an orphan may be cut",
  'if (this.#orphan && outcome !== "closed") return this.#fail();',
  "",
);
mutant(
  "automaton",
  "a cut call is not completed",
  "invocation?.call.end();\n    this.#invocation = undefined;\n    if",
  'if (outcome !== "cut") invocation?.call.end();\n    this.#invocation = undefined;\n    if',
);
mutant(
  "automaton",
  "invokes do not wait for a tag",
  'if (tag === "partial") return false;\n    if (tag !== "none" && closes',
  'if (tag !== "none" && tag !== "partial" && closes',
);
mutant("automaton", "a malformed second invoke is no fault", 'if (tag !== "none") this.#bad = true;', "");
mutant(
  "automaton",
  "text between invokes is lost",
  "this.#markdown.skip();\n    this.#output.text(raw);",
  "this.#markdown.skip();",
);
mutant(
  "automaton",
  "text between invokes closes the wrapper",
  "this.#loose = open;",
  'this.#loose = "none";',
);
mutant(
  "automaton",
  "a whole malformed wrapper stands",
  "if (this.#whole && this.#bad) {",
  "if (this.#whole && !this.#whole) {",
);
mutant(
  "automaton",
  "a good call clears no fault",
  "this.#bad = false;\n    this.#refused = false;",
  "this.#refused = false;",
);
mutant(
  "grammar",
  "names may be blank",
  'tag.name !== undefined && tag.name !== ""',
  "tag.name !== undefined",
);
mutant(
  "grammar",
  "names may be missing",
  'return !tag.close && tag.name !== undefined && tag.name !== "";',
  "return !tag.close;",
);
mutant("grammar", "text is held back for long", "HOLD = 128", "HOLD = 1024");
mutant(
  "json-body",
  "tags are not waited for",
  'if (tag === "partial") return "open";',
  'if (tag === "partial") return "refused";',
);
mutant(
  "json-body",
  "the first end tag ends it",
  'if (source === undefined && ++this.#ends > MAX_ENDS) return "refused";',
  'if (source === undefined) return "refused";',
);
mutant("json-body", "it is never given up", "(!tag.close || this.#idle)", "!tag.close");
mutant("json-body", "wrappers are part of it", "(!tag.close || this.#idle)", "this.#idle");
mutant(
  "span-watch",
  "spans reach over paragraphs",
  'if (markdown.blocks !== this.#blocks) return "plain";',
  "",
);
mutant("span-watch", "spans never close", 'if (markdown.openRuns < this.#openRuns) return "code";', "");
mutant("span-watch", "runs are not settled", "if (unit !== TICK) markdown.endRun();", "");
mutant(
  "invocation",
  "tags are not waited for",
  'if (!input.final) return "open";\n      input.at = input.text.length;\n      return "cut";\n    }\n    if',
  'input.at = input.text.length;\n      return "cut";\n    }\n    if',
);
mutant("invocation", "what does not belong is no fault", "this.#malformed = true;\n    if (tag", "if (tag");
mutant(
  "invocation",
  "an unfinished parameter is no fault",
  'if (body.state === "broken") this.#malformed = true;',
  "",
);
mutant(
  "invocation",
  "the search does not wait for a tag",
  'if (tag === "partial") return "open";\n        if',
  "if",
);
mutant("invocation", "the search has no bound", 'if (input.recorded > MAX_GARBAGE) return "lost";', "");
mutant("output", "the index does not grow", "this.#next++", "this.#next");
mutant("output", "a dropped guess keeps its index", "if (this.#guess) this.#next = this.#guess.next;", "");
mutant("output", "restoring keeps the index", "this.#next = saved.next;", "");
mutant("output", "restoring keeps the events", "this.#events.length = saved.length;", "");
mutant("output", "characters are split", "if (last >= 0xd800 && last <= 0xdbff) {", "if (last < 0) {");
mutant("output", "the last half is lost", "if (final) this.#flushHalf();", "");
mutant(
  "arguments",
  "characters are split",
  "const split = last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;",
  "const split = text.length;",
);
mutant(
  "arguments",
  "repeated names are not gathered",
  "const all = [...(this.#sent.get(name) ?? []), ...sources];",
  "const all = sources;",
);
mutant("arguments", "a repeated string is sent again", "!this.#sent.has(name) && ", "");
mutant(
  "arguments",
  "a value does not wait for a repetition",
  "if (!this.#whole && !this.#waiting.has(name)) this.#flush();\n    const",
  "this.#flush();\n    const",
);
mutant("arguments", "whole arguments repeat names", "return !this.#whole && ", "return ");
mutant(
  "body",
  "entities are not waited for",
  'if (entity === "partial") return at;',
  'if (entity === "partial") return this.#literal(source, at, at + 1);',
);
mutant(
  "body",
  "CDATA is not waited for",
  'if (cdata === "partial") return at;\n    if',
  'if (cdata === "partial") return this.#literal(source, at, at + 1);\n    if',
);
mutant(
  "body",
  "what follows an invoke is not waited for",
  'if (follows === "partial") return at;',
  'if (follows === "partial") return this.#literal(source, at, tag.end);',
);
mutant(
  "body",
  "one end tag ends all calls in a body",
  "this.#nested.length = partner;\n      return",
  "this.#nested.length = 0;\n      return",
);
mutant("body", "calls in a body are not followed", "this.#nested.push(tag.kind);", "void within;");
mutant(
  "body",
  "orphans swallow calls",
  "if (calls && this.#options.alone) {",
  "if (calls && !this.#options) {",
);
mutant("body", "the second bracket eats text", "if (tag.doubled && !(", "if (!tag.doubled && !(");
mutant(
  "value",
  "white space at the end is sent",
  'this.#gap = core === "" ? this.#gap + piece : piece.slice(core.length);',
  "this.#take(piece.slice(core.length));",
);
mutant(
  "value",
  "strings wait for their end",
  "if (!this.#isPlain() || !this.#writer.canStream(this.#name)) return;",
  "return;",
);
mutant("value", "undeclared strings do not wait", "const WAIT = 128;", "const WAIT = 0;");
mutant("value", "declared strings are literals", 'if (this.#wanted === "text") return text;', "");
mutant(
  "value",
  "literals are sent as strings",
  'this.#wanted === "text" || (!this.#maybe && this.#length >= WAIT)',
  'this.#wanted === "text" || this.#length >= WAIT',
);
mutant("tags", "nothing may become a tag", 'if (span.open) return "partial";\n  const', "const");
mutant(
  "tags",
  "nothing may become an attribute",
  'if (span.open) return "partial";\n      return piped',
  "return piped",
);
mutant("tags", "a glance waits for nothing", '"unsure" : "partial"', '"unsure" : "none"');
mutant("tags", "a shell has no bound", "if (index - at - openers === MAX_SHELL)", "if (index < 0)");
mutant(
  "tags",
  "tags may be endless",
  "const stop = Math.min(source.length, at + limit);\n  const span",
  "const stop = source.length;\n  const span",
);
mutant("tags", "foreign shells count", 'if (letters === "antml") return undefined;', "");
mutant("tags", "hyphens need no shell", "if (!pascal && !separated && !joined) return undefined;", "");
mutant(
  "entities",
  "half an entity is text",
  'return !final && PREFIX.test(window) ? "partial" : "none";',
  'return "none";',
);
mutant("markdown", "backslashes do not escape", 'else if (unit === 0x5c) this.#place = "escape";', "");
mutant("markdown", "shorter runs close fences", "this.#run >= (this.#fence?.length ?? 0)", "this.#run >= 3");
mutant(
  "markdown",
  "any fence character closes",
  "const closes = unit === this.#fence.unit && near;",
  "const closes = (unit === TICK || unit === TILDE) && near;",
);
mutant(
  "markdown",
  "text behind a closer closes",
  'else if (unit !== SPACE && unit !== TAB && unit !== RETURN) this.#place = "code";',
  "",
);
mutant(
  "markdown",
  "runs close runs of any length",
  "const partner = this.#open.indexOf(run);",
  "const partner = this.#open.length - 1;",
);
mutant(
  "markdown",
  "paragraphs do not end spans",
  "this.#paragraph = false;\n    this.#open = [];",
  "this.#paragraph = false;",
);
mutant(
  "markdown",
  "lists do not end fences",
  "if (this.#fence && this.#depth < this.#fence.depth) this.#closeFence();\n    if",
  "if",
);
mutant(
  "input",
  "nothing is recorded over pieces",
  "this.#record.text += this.text.slice(this.#record.from, this.at);",
  "",
);
mutant(
  "scanner",
  "a failure goes out",
  "this.#failed = true;\n",
  "this.#failed = true;\n      throw new Error();\n",
);

mutant(
  "body",
  "end tags are not waited for",
  'if (tag === "partial") return at;\n    if (tag === "none" && final',
  'if (tag === "partial") return this.#literal(source, at, at + 1);\n    if (tag === "none" && final',
);
mutant("body", "foreign end tags count", 'tag === "none" || !this.#around.owns(tag)\n', 'tag === "none"\n');
mutant(
  "body",
  "half a closing tag is text",
  'if (tag === "none" && final && this.#isOver(source, at)) return source.length;',
  "",
);
mutant("body", "half an opening of CDATA is text", "(!this.#value.bare && endsInCdata(source, at))", "false");
mutant(
  "body",
  "half a CDATA opening ends any text",
  "(!this.#value.bare && endsInCdata(source, at))",
  "endsInCdata(source, at)",
);
mutant("body", "a bracket is always half a tag", "behind ? 1 : 2", "behind ? 1 : 1");
mutant("body", "a bracket behind CDATA is text", "behind ? 1 : 2", "behind ? 2 : 2");
mutant("body", "a value within its end tag is not complete", "if (this.#complete || closed)", "if (closed)");
mutant(
  "body",
  "a value behind its CDATA is not complete",
  "if (this.#complete || closed)",
  "if (this.#complete)",
);
mutant(
  "body",
  "CDATA within its end tag is not complete",
  'else if (state === "named") this.#complete = this.#nested.length === 0;',
  "",
);
mutant(
  "body",
  "no text is read behind CDATA without end",
  'return state === "swallowing" ? this.#readText(source, next, final) : next;',
  "return next;",
);
mutant(
  "surroundings",
  "half a closing tag closes nothing",
  "return final && this.endsInClosingTag(source, next, 1) !== undefined;",
  "return false;",
);
mutant(
  "surroundings",
  "CDATA is looked for however far",
  'if (next - at > LOOK_AHEAD) return false;\n    if (next === source.length) return final ? false : "partial";',
  'if (next === source.length) return final ? false : "partial";',
);
mutant(
  "surroundings",
  "CDATA is not waited for",
  'if (next === source.length) return final ? false : "partial";',
  "if (next === source.length) return false;",
);
mutant(
  "quoted",
  "end tags are not waited for",
  'if (tag === "partial") return at;',
  'if (tag === "partial") return this.#keepStepped(source, at, at + 1);',
);
mutant(
  "quoted",
  "end marks are not waited for",
  'if (mark === "partial") return at;',
  'if (mark === "partial") return this.#keepStepped(source, at, at + 1);',
);
mutant("quoted", "what follows CDATA is not waited for", 'if (closing === "partial") return at;', "");
mutant(
  "quoted",
  "another section is not waited for",
  'const section = this.#around.cdataFollows(source, end, final);\n    if (section === "partial") return at;',
  "const section = this.#around.cdataFollows(source, end, final);",
);
mutant(
  "quoted",
  "fences in CDATA do not count",
  "if (markdown.fenced && !this.#options.loose) {",
  "if (markdown.fenced && this.#options.loose) {",
);
mutant(
  "quoted",
  "doubtful text is sent",
  "if (this.#doubt) this.#doubt.text += piece;\n    else this",
  "if (this.#doubt) this.#doubt.text += piece;\n    this",
);
mutant(
  "quoted",
  "doubtful text is lost",
  "this.#value.addVerbatim(this.#doubt.text);\n    this.#doubt",
  "this.#doubt",
);
mutant(
  "quoted",
  "no end tag makes doubt",
  "this.#doubt ??= doubtFrom(0);\n      if (fenced) return true;",
  "if (fenced || !this.#doubt) return true;",
);
mutant("quoted", "no end mark makes doubt", "this.#doubt.mark = end - at;", "");
mutant("quoted", "half an end mark makes no doubt", "if (closing) this.#doubt ??= doubtFrom(end - at);", "");
mutant(
  "quoted",
  "later CDATA is not loose",
  "if (tag.close && this.#options.loose) {",
  "if (tag.close && !this.#options) {",
);
mutant("quoted", "tags in fences show that CDATA is not closed", "if (fenced) return true;", "");
mutant(
  "quoted",
  "parameters in fences show that CDATA is not closed",
  "} else if (!fenced && opensParameter(tag)",
  "} else if (opensParameter(tag)",
);
mutant(
  "quoted",
  "parameters within CDATA do not count",
  "if (this.#within > 0) this.#within--;\n      else this",
  "this",
);
mutant(
  "quoted",
  "any parameter shows that CDATA is not closed",
  "if (section) this.#doubt.reopened",
  "this.#doubt.reopened",
);
mutant(
  "quoted",
  "CDATA behind a parameter is not waited for",
  'if (section === "partial") return false;',
  "",
);
mutant(
  "quoted",
  "nothing shows that CDATA is not closed",
  "if (closing && this.#options.repairable && this.#doubt?.reopened !== undefined) {",
  "if (closing && !this.#options && this.#doubt?.reopened !== undefined) {",
);
mutant(
  "quoted",
  "sections show that CDATA is not closed",
  "if (closing && this.#options.repairable &&",
  "if (this.#options.repairable &&",
);
mutant(
  "quoted",
  "half an end mark stays before a repair",
  "from === marked ? doubt.kept : from",
  "shown ? from : doubt.kept",
);
mutant("quoted", "half a closing tag is text", "final && !this.#doubt ?", "final && !this.#state ?");
mutant("quoted", "half a closing tag hides an end tag", "final && !this.#doubt ?", "final ?");
mutant(
  "invocation",
  "unclosed CDATA is not repaired",
  'if (!this.#options.orphan && this.#recover(body)) return "next";',
  "",
);
mutant(
  "invocation",
  "only one CDATA is repaired at the end",
  "if (reopened === undefined) unclosed.all = true;\n    else",
  "if (reopened !== undefined)",
);
mutant(
  "invocation",
  "only one CDATA is repaired within",
  "if (reopened !== undefined) unclosed.before = input.offset + reopened;",
  "",
);
mutant(
  "invocation",
  "the last CDATA is repaired too",
  "unclosed.before = input.offset + reopened;",
  "unclosed.before = input.offset + reopened + 1;",
);
mutant("cdata", "marks need both brackets", "NAMED.test(folded)) shortEnd", 'NAMED.test("")) shortEnd');
mutant(
  "cdata",
  "anything separates",
  "if (unit < 0x20) return",
  "if (unit > 0x7f) return true;\n  if (unit < 0x20) return",
);
mutant(
  "cdata",
  "openings are not waited for",
  'return !final && stop === source.length ? "partial" : shortEnd;',
  "return shortEnd;",
);
mutant(
  "cdata",
  "a late bracket is text",
  "if (!MAY_OPEN.test(folded)) return shortEnd;",
  'if (shortEnd !== "none" || !MAY_OPEN.test(folded)) return shortEnd;',
);
mutant(
  "cdata",
  "end marks are not waited for",
  'const short = final ? "none" : "partial";',
  'const short = final ? "none" : "none";',
);
mutant("cdata", "gaps have no bound", "while (index < from + MAX_GAP &&", "while (index >= from &&");
mutant(
  "cdata",
  "drifted marks are exact",
  'kind: exact ? "exact" : "drifted"',
  'kind: exact ? "exact" : "exact"',
);
mutant("cdata", "any sign may be half an opening", 'return (second === "|" || second === "[") &&', "return");
mutant(
  "value",
  "drifted CDATA counts in any text",
  'return this.#wanted !== "text" && this.#maybe && this.#lead === "<" && this.#tail === ">";',
  "return true;",
);
mutant(
  "value",
  "drifted CDATA counts in no element",
  'return this.#wanted !== "text" && this.#maybe && this.#lead === "<" && this.#tail === ">";',
  "return false;",
);
mutant(
  "tags",
  "foreign closing tags end a text",
  'return known ? "named" : undefined;',
  'return known || letters ? "named" : undefined;',
);
mutant(
  "tags",
  "opening tags end a text",
  'if (folded !== "" && !folded.includes("/") &&',
  'if (folded === "?" &&',
);
mutant("tags", "half a shell is text", '!/[|｜]/.test(source[at + 1] ?? "")', "source");
mutant(
  "markdown",
  "fences in a piece are searched beyond it",
  "BACKTICK | NEWLINE | BACKSLASH, to);",
  "BACKTICK | NEWLINE | BACKSLASH);",
);
mutant(
  "markup",
  "strings are shown as JSON",
  "source.startsWith('\"') ? JSON",
  'source.startsWith("?") ? JSON',
);
mutant(
  "members",
  "brackets in strings count",
  "if (char === '\"') {\n      index",
  'if (char === "?") {\n      index',
);
mutant("members", "quotes are never escaped", 'source[index] === "\\\\" ? 2 : 1', "1");
mutant("render", "null is an argument", "(?:null\\s*)?$", "$");

mutant(
  "quoted",
  "CDATA ends at any mark",
  "(this.#options.guarded && !this",
  "(!this.#options.guarded && !this",
);
mutant("quoted", "CDATA ends at any drifted mark", 'const text = kind === "drifted" || (', "const text = (");
let running: ChildProcess | undefined;

/** Ends the program that runs with all that it started: each leads a process group of its own. */
function stop(): void {
  const { pid } = running ?? {};
  running = undefined;
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is gone already.
  }
}

/** Resolves to whether a program of Node ends well; one that does not end in time is killed and has failed. */
function succeeds(folder: string, ...program: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, program, { stdio: "ignore", cwd: folder, detached: true });
    running = child;
    const timer = setTimeout(() => {
      stop();
      resolve(false);
    }, LIMIT);
    const settle = (code: number | null): void => {
      clearTimeout(timer);
      if (running === child) stop();
      resolve(code === 0);
    };
    child.on("exit", settle);
    child.on("error", () => settle(null));
  });
}

/** Whether the tests in `folder` pass: the quick ones first, since they find most mutants. */
async function passes(folder: string): Promise<boolean> {
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  return (
    (await succeeds(folder, join(folder, "test/fuzz/quick.ts"))) &&
    (await succeeds(folder, vitest, "run", "--bail=1", "--pool=threads", "--root", folder))
  );
}

const root = process.cwd();
const folder = mkdtempSync(join(tmpdir(), "mutants-"));
const wanted = process.argv.slice(2);
const selected = mutants.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
const survivors: string[] = [];
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    stop();
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  });
}
try {
  cpSync(join(root, "src/tools"), join(folder, "src/tools"), { recursive: true });
  cpSync(join(root, "test/unit/tools"), join(folder, "test/unit/tools"), { recursive: true });
  cpSync(join(root, "test/fuzz/quick.ts"), join(folder, "test/fuzz/quick.ts"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  if (!(await passes(folder))) throw new Error("the tests fail without a mutant");
  for (const { name, file, from, to } of selected) {
    const path = join(folder, "src/tools", file);
    const source = readFileSync(path, "utf8");
    if (source.split(from).length !== 2) throw new Error(`"${name}" does not fit the source exactly once`);
    writeFileSync(
      path,
      source.replace(from, () => to),
    );
    const survived = await passes(folder);
    if (survived) survivors.push(name);
    console.info(`${survived ? "SURVIVED" : "killed  "} ${name}`);
    writeFileSync(path, source);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.info(`${selected.length - survivors.length} of ${selected.length} mutants killed`);
process.exitCode = survivors.length > 0 ? 1 : 0;
