import { claudeCode } from "./claude-code.mjs";
import { cline } from "./cline.mjs";
import { codex } from "./codex.mjs";
import { continueCli } from "./continue.mjs";
import { copilot } from "./copilot.mjs";
import { gemini } from "./gemini.mjs";
import { kilo } from "./kilo.mjs";
import { openclaw } from "./openclaw.mjs";
import { opencode } from "./opencode.mjs";
import { pi } from "./pi.mjs";
import { qwen } from "./qwen.mjs";

/** All command-line agents. */
export const CLIS = [
  claudeCode,
  codex,
  gemini,
  copilot,
  qwen,
  opencode,
  kilo,
  openclaw,
  pi,
  cline,
  continueCli,
];
