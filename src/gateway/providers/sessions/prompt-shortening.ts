import { joinParagraphs } from "../requests/prompt-text.ts";
import { composeSections, type Transcript, withRules } from "./prompt.ts";
import type { Section } from "./sections.ts";
import { joinSections } from "./sections.ts";

/** The names of the uploaded files, to which the prompt refers. */
const TRANSCRIPT_FILE = "conversation.txt";
const TOOLS_FILE = "tools.txt";

/** How much of one section stays in the prompt, in characters. Half of it is the start, half the end. */
const KEPT_OF_SECTION = 8_000;
/** How much of the sections after the last user message stays in the prompt, in characters. */
const KEPT_OF_END = 32_000;

/** A text file to upload before the turn. */
export interface TextFile {
  readonly filename: string;
  readonly text: string;
}

/** A prompt that refers to files instead of containing everything. */
export interface ShortenedPrompt {
  readonly files: readonly TextFile[];
  /** Returns the prompt. `suffix` is the text of a follow-up turn (blank: none). */
  compose(suffix: string): string;
}

/**
 * Shortens a prompt that is too long (`current_input_file`): the transcript and the tools move into files. The last
 * user message and the sections after it stay in the prompt, shortened if they are long.
 */
export function shortenPrompt(transcript: Transcript): ShortenedPrompt {
  const { sections, tools, toolRules, toolNames, answerRules, prefilled } = transcript;
  const files: TextFile[] = [{ filename: TRANSCRIPT_FILE, text: joinSections(sections) }];
  if (tools !== "") files.push({ filename: TOOLS_FILE, text: tools });
  const rules = joinParagraphs(
    `The whole conversation so far, with the instructions to follow, is in the attached file ${TRANSCRIPT_FILE}. Read it first. Below is only its end.`,
    tools === ""
      ? ""
      : `The tools that you can call are described in the attached file ${TOOLS_FILE}: ${toolNames.join(", ")}.`,
    toolRules,
    answerRules,
  );
  const shortened = withRules(recentSections(transcript), rules);
  return { files, compose: (suffix) => composeSections(shortened, prefilled, suffix) };
}

/** Returns the last user message and the sections after it. If those are too long, only the latest of them. */
function recentSections({ sections, lastUser, prefilled }: Transcript): Section[] {
  const shortened = sections.map((section, index) =>
    index < lastUser || (prefilled && index === sections.length - 1) ? section : shortenSection(section),
  );
  const lastQuestion = lastUser === -1 ? [] : shortened.slice(lastUser, lastUser + 1);
  const following = lastUser === -1 ? shortened.slice(-1) : shortened.slice(lastUser + 1);
  let start = following.length;
  for (let size = 0; start > 0; start -= 1) {
    size += following[start - 1]?.text.length ?? 0;
    if (size > KEPT_OF_END && start < following.length) break;
  }
  return [...lastQuestion, ...following.slice(start)];
}

function shortenSection(section: Section): Section {
  const { text } = section;
  if (text.length <= KEPT_OF_SECTION) return section;
  const half = KEPT_OF_SECTION / 2;
  const omittedChars = text.length - KEPT_OF_SECTION;
  const gap = `[… ${omittedChars} characters are left out here; they are in ${TRANSCRIPT_FILE} …]`;
  return { ...section, text: `${text.slice(0, half)}\n\n${gap}\n\n${text.slice(-half)}` };
}
