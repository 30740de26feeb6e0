import { findFlagged } from "./characters.ts";
import {
  BACKSLASH,
  BACKSLASH_FLAG,
  BACKTICK,
  BACKTICK_FLAG,
  GREATER,
  HASH,
  LINE_FEED,
  LINE_FEED_FLAG,
  RETURN,
  SPACE,
  TAB,
  TILDE,
} from "./units.ts";

/** The position in the line of the last unit. */
type LinePosition =
  | "prefix" // white space and container marks at the start of a line
  | "marker" // a list bullet that still needs its space
  | "gap" // the spaces after a list bullet
  | "ordinal" // digits that may become a list number
  | "hash" // `#`s that may become a heading
  | "fence" // a run of fence characters at the start of a line
  | "info" // after a backtick run that opens a fence unless the line contains another backtick
  | "text"
  | "escape" // after a backslash
  | "run" // within a run of backticks in text
  | "code" // within a fenced line
  | "closer" // a run of fence characters at the start of a fenced line
  | "closed"; // white space after such a run

/** An open fenced block. */
interface Fence {
  /** A backtick or a tilde. */
  unit: number;
  length: number;
  /** Number of the containers around it. */
  depth: number;
}

const MAX_OPEN_RUNS = 32;
/** Most nested lists and quotes. Deeper ones are ignored. */
const MAX_CONTAINERS = 64;

/**
 * Tracks enough of CommonMark to know whether a position is code (docs/contract.md, tool rule 6): fenced blocks,
 * also within lists and block quotes, and inline spans by run length. It reads every unit once, in pieces of any size.
 *
 * The class is long because it is one state machine: each position in a line can change to several others.
 */
export class MarkdownTracker {
  #position: LinePosition = "prefix";
  /** Columns of white space since the innermost container of this line. */
  #indent = 0;
  /** How many of the open containers this line continues so far. */
  #depth = 0;
  /** Whether the next space belongs to a block quote mark, not to the indentation. */
  #swallow = false;
  /** Length of the current run of backticks, fence characters, `#`s or digits. */
  #run = 0;
  /** The character of the current fence run. */
  #unit = 0;
  /** Width of the current list marker with its indentation. */
  #marker = 0;
  /** Whether the current list number begins with 1: only 1 interrupts a paragraph. */
  #first = false;
  /** Whether the line is a heading, which ends with the line. */
  #heading = false;
  /** Whether a paragraph is open: its next line need not repeat the containers. */
  #paragraph = false;
  #fence: Fence | undefined;
  /** Widths of the open list items; 0 means a block quote. */
  #containers: number[] = [];
  /** Lengths of the backtick runs in this paragraph that may open a code span. */
  #openRunLengths: number[] = [];
  #blocks = 0;

  /** The number of inline code spans that may be open: backtick runs of this paragraph without a matching run yet. */
  get openRunCount(): number {
    return this.#openRunLengths.length;
  }

  /** The number of ended paragraphs. A code span cannot extend beyond its paragraph. */
  get endedBlocks(): number {
    return this.#blocks;
  }

  /** Whether the position is within a fenced block. Call `resolvePending` first. */
  get isInFence(): boolean {
    return this.#fence !== undefined || this.#position === "info";
  }

  /** Whether the position is within a block quote. */
  get isInBlockQuote(): boolean {
    return this.#containers.includes(0);
  }

  /** Whether only backticks, backslashes and newlines can change the state here. */
  get isPlainText(): boolean {
    return this.#position === "text";
  }

  /** Whether only a newline can change the state here. */
  get isFencedLine(): boolean {
    return this.#position === "code";
  }

  clone(): MarkdownTracker {
    const copy = new MarkdownTracker();
    copy.#position = this.#position;
    copy.#indent = this.#indent;
    copy.#depth = this.#depth;
    copy.#swallow = this.#swallow;
    copy.#run = this.#run;
    copy.#unit = this.#unit;
    copy.#marker = this.#marker;
    copy.#first = this.#first;
    copy.#heading = this.#heading;
    copy.#paragraph = this.#paragraph;
    copy.#fence = this.#fence;
    copy.#containers = [...this.#containers];
    copy.#openRunLengths = [...this.#openRunLengths];
    copy.#blocks = this.#blocks;
    return copy;
  }

  /** Discards all open runs: they open no span. */
  discardRuns(): void {
    this.#openRunLengths = [];
  }

  /** Records that something other than text, such as a call, was here. */
  skipNonText(): void {
    this.resolvePending();
    this.#position = "text";
    this.#paragraph = true;
    this.#openRunLengths = [];
  }

  feed(text: string, from = 0, to = text.length): void {
    let index = from;
    while (index < to) {
      if (this.#position === "text")
        index = findFlagged(text, index, BACKTICK_FLAG | LINE_FEED_FLAG | BACKSLASH_FLAG, to);
      else if (this.#position === "code") index = findFlagged(text, index, LINE_FEED_FLAG, to);
      if (index < to) this.step(text.charCodeAt(index++));
    }
  }

  /** Decides states that depend on the next unit, knowing that it is an opening bracket (`<`). */
  resolvePending(): void {
    switch (this.#position) {
      case "prefix":
        if (this.#fence) {
          this.#matchLists();
          if (this.#depth < this.#fence.depth) this.#closeFence();
        }
        break;
      case "fence":
        this.#endFenceRun();
        break;
      case "run":
        this.#endRun();
        break;
      case "closer":
      case "closed":
        this.#position = "code";
        break;
    }
  }

  /** Ends a run of backticks, knowing that the next unit is not a backtick. */
  endRun(): void {
    if (this.#position === "run") this.#endRun();
    else if (this.#position === "fence" && this.#unit === BACKTICK && this.#run < 3) this.#endFenceRun();
  }

  step(unit: number): void {
    switch (this.#position) {
      case "text":
        if (unit === LINE_FEED) this.#newline();
        else if (unit === BACKTICK) this.#startRun();
        else if (unit === BACKSLASH) this.#position = "escape";
        break;
      case "code":
        if (unit === LINE_FEED) this.#newline();
        break;
      case "escape":
        this.#position = "text";
        if (unit === LINE_FEED) this.#newline();
        break;
      case "run":
        if (unit === BACKTICK) this.#run++;
        else {
          this.#endRun();
          this.step(unit);
        }
        break;
      case "prefix":
        this.#prefix(unit);
        break;
      case "fence":
        if (unit === this.#unit) this.#run++;
        else {
          this.#endFenceRun();
          this.step(unit);
        }
        break;
      case "info":
        if (unit === LINE_FEED) this.#openFence();
        else if (unit === BACKTICK) {
          this.#startText();
          this.#position = "run";
          this.#close(this.#run);
          this.#run = 1;
        }
        break;
      case "closer":
        if (unit === this.#unit) this.#run++;
        else {
          this.#position = this.#run >= (this.#fence?.length ?? 0) ? "closed" : "code";
          this.step(unit);
        }
        break;
      case "closed":
        if (unit === LINE_FEED) {
          this.#closeFence();
          this.#newline();
        } else if (unit !== SPACE && unit !== TAB && unit !== RETURN) this.#position = "code";
        break;
      default:
        this.#mark(unit);
    }
  }

  #newline(): void {
    if (this.#heading) this.#endBlock();
    this.#heading = false;
    this.#position = "prefix";
    this.#indent = 0;
    this.#depth = 0;
    this.#swallow = false;
  }

  #endBlock(): void {
    this.#paragraph = false;
    this.#openRunLengths = [];
    this.#blocks++;
  }

  #startRun(): void {
    this.#position = "run";
    this.#run = 1;
  }

  #endRun(): void {
    this.#position = "text";
    this.#close(this.#run);
  }

  /** A run closes the first open run of the same length, and all runs opened within. Otherwise it may open a span. */
  #close(run: number): void {
    const matchingRun = this.#openRunLengths.indexOf(run);
    if (matchingRun >= 0) this.#openRunLengths.length = matchingRun;
    else if (this.#openRunLengths.length < MAX_OPEN_RUNS) this.#openRunLengths.push(run);
  }

  #matchLists(): void {
    for (;;) {
      const container = this.#containers[this.#depth];
      if (container === undefined || container === 0 || this.#indent < container) return;
      this.#indent -= container;
      this.#depth++;
    }
  }

  #closeFence(): void {
    this.#fence = undefined;
    this.#endBlock();
  }

  #startText(): void {
    if (!this.#paragraph) this.#containers.length = this.#depth;
    this.#paragraph = true;
    this.#position = "text";
  }

  #startContainer(): void {
    this.#containers.length = this.#depth;
    this.#endBlock();
  }

  #blank(): void {
    if (this.#containers.indexOf(0, this.#depth) >= 0) {
      this.#containers.length = this.#depth;
      if (this.#fence && this.#fence.depth > this.#depth) this.#fence = undefined;
    }
    if (!this.#fence) this.#endBlock();
    this.#newline();
  }

  #prefix(unit: number): void {
    if (unit === SPACE) {
      if (!this.#swallow) this.#indent++;
      this.#swallow = false;
      return;
    }
    if (unit === TAB) {
      this.#indent += 4 - (this.#indent % 4);
      this.#swallow = false;
      return;
    }
    if (unit === RETURN) return;
    if (unit === LINE_FEED) {
      this.#blank();
      return;
    }
    this.#matchLists();
    const isUnindented = this.#indent <= 3;
    if (unit === GREATER && isUnindented && this.#containers[this.#depth] === 0) {
      this.#quote();
      return;
    }
    if (this.#fence && this.#depth < this.#fence.depth) this.#closeFence();
    if (this.#fence) {
      const closesFence = unit === this.#fence.unit && isUnindented;
      this.#position = closesFence ? "closer" : "code";
      this.#unit = unit;
      this.#run = 1;
      return;
    }
    if (!isUnindented) this.#text(unit);
    else if (unit === BACKTICK || unit === TILDE) {
      this.#position = "fence";
      this.#unit = unit;
      this.#run = 1;
    } else if (unit === GREATER) {
      this.#startContainer();
      if (this.#depth < MAX_CONTAINERS) this.#containers.push(0);
      this.#quote();
    } else if (unit === 0x2d || unit === 0x2b || unit === 0x2a) {
      this.#position = "marker";
      this.#marker = this.#indent + 1;
    } else if (unit >= 0x30 && unit <= 0x39) {
      this.#position = "ordinal";
      this.#run = 1;
      this.#first = unit === 0x31;
    } else if (unit === HASH) {
      this.#position = "hash";
      this.#run = 1;
    } else this.#text(unit);
  }

  #quote(): void {
    this.#depth = Math.min(this.#depth + 1, this.#containers.length);
    this.#indent = 0;
    this.#swallow = true;
  }

  #text(unit: number): void {
    this.#startText();
    this.step(unit);
  }

  /** List bullets and numbers, and headings. */
  #mark(unit: number): void {
    const space = unit === SPACE || unit === TAB;
    if (this.#position === "hash") {
      if (unit === HASH) this.#run++;
      else if (space && this.#run <= 6) {
        this.#startContainer();
        this.#heading = true;
        this.#position = "text";
      } else this.#text(unit);
    } else if (this.#position === "ordinal") {
      if (unit >= 0x30 && unit <= 0x39 && this.#run < 9) this.#run++;
      else if ((unit === 0x2e || unit === 0x29) && !(this.#paragraph && !(this.#first && this.#run === 1))) {
        this.#position = "marker";
        this.#marker = this.#indent + this.#run + 1;
      } else this.#text(unit);
    } else if (this.#position === "marker") {
      if (space || (unit === LINE_FEED && !this.#paragraph)) {
        this.#startContainer();
        this.#position = "gap";
        this.#indent = 0;
        this.#gap(unit);
      } else this.#text(unit);
    } else this.#gap(unit);
  }

  #gap(unit: number): void {
    if (unit === SPACE) this.#indent++;
    else if (unit === TAB) this.#indent += 4 - (this.#indent % 4);
    else {
      const isBeyondMarker = this.#indent > 4 || unit === LINE_FEED;
      if (this.#depth < MAX_CONTAINERS)
        this.#containers.push(this.#marker + (isBeyondMarker ? 1 : this.#indent));
      this.#depth = this.#containers.length;
      this.#indent = isBeyondMarker ? Math.max(0, this.#indent - 1) : 0;
      this.#position = "prefix";
      if (unit === LINE_FEED) this.#newline();
      else this.#prefix(unit);
    }
  }

  #endFenceRun(): void {
    if (this.#run >= 3 && this.#unit === TILDE) this.#openFence();
    else if (this.#run >= 3) this.#position = "info";
    else if (this.#unit === BACKTICK) {
      this.#startText();
      this.#close(this.#run);
    } else this.#startText();
  }

  /** Opens the fence. A newline may follow as `code` text or may already have ended the line. */
  #openFence(): void {
    const atLineEnd = this.#position === "info";
    this.#startContainer();
    this.#fence = { unit: this.#unit, length: this.#run, depth: this.#depth };
    if (atLineEnd) this.#newline();
    else this.#position = "code";
  }
}
