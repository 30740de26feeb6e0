import { RE2JS } from "re2js";
import type { Guardrail } from "../../core/config/schemas/guardrail-schema.ts";
import { oncePer } from "../../core/encoding/once.ts";
import { BREAK_CHARS, type Breaks } from "./breaks.ts";
import { createCheckFailure, createDenial } from "./denial.ts";

/** A compiled expression. `replacement` null: matching text is denied. */
interface Expression {
  readonly compiled: RE2JS;
  readonly replacement: string | null;
}

/**
 * Compiles a pattern in the syntax of RE2, whose matches take linear time: no look-around, no back-references.
 *
 * @throws Error for an invalid pattern
 */
export const compileExpression = (pattern: string): RE2JS => RE2JS.compile(pattern);

const getExpressions = oncePer((rule: Guardrail): readonly Expression[] => {
  try {
    return rule.expressions.map(({ pattern, action, replacement }) => ({
      compiled: compileExpression(pattern),
      replacement: action === "deny" ? null : replacement,
    }));
  } catch (error) {
    // An imported configuration may have a pattern that no edit would accept.
    throw createCheckFailure(rule, error);
  }
});

/**
 * Masks a text by the expressions of some rules.
 *
 * @param context the text before it, which was checked: a match that ends within it is none of this text
 * @throws GatewayError if an expression denies the text
 */
export function maskText(rules: readonly Guardrail[], text: string, context = ""): string {
  let masked = text;
  for (const rule of rules) {
    for (const expression of getExpressions(rule))
      masked = applyExpression(rule, expression, masked, context);
  }
  return masked;
}

/** How far around the end of a piece matches are looked for, so that no piece ends within a match of this length. */
const CUT_RANGE = 1_024;

/**
 * The same for a text of any length, with breaks for other requests. A long text is checked in pieces.
 *
 * @throws GatewayError if an expression denies the text
 */
export async function maskLongText(
  rules: readonly Guardrail[],
  text: string,
  breaks: Breaks,
  context = "",
): Promise<string> {
  let masked = "";
  let start = 0;
  do {
    const end = findPieceEnd(rules, text, start);
    let piece = text.slice(start, end);
    for (const rule of rules) {
      for (const expression of getExpressions(rule)) {
        piece = applyExpression(rule, expression, piece, start === 0 ? context : "");
        await breaks.after(end - start);
      }
    }
    masked += piece;
    start = end;
  } while (start < text.length);
  return masked;
}

function findPieceEnd(rules: readonly Guardrail[], text: string, start: number): number {
  const end = start + BREAK_CHARS;
  if (text.length - start <= BREAK_CHARS + CUT_RANGE) return text.length;
  const from = end - CUT_RANGE;
  return from + findCut(rules, text.slice(from, end + CUT_RANGE), CUT_RANGE) || end;
}

/** Masks what an expression matches in a text behind its context. Throws if it denies the text. */
function applyExpression(
  rule: Guardrail,
  { compiled, replacement }: Expression,
  text: string,
  context: string,
): string {
  const joined = context + text;
  if (replacement !== null) return replaceMatches(compiled, joined, replacement, context.length);
  const matcher = compiled.matcher(joined);
  while (matcher.find()) {
    if (context === "" || matcher.end() > context.length) throw createDenial(rule);
  }
  return text;
}

/** The first rule with an expression that matches a text, whatever its action. */
export function findMatchingRule(rules: readonly Guardrail[], text: string): Guardrail | undefined {
  return rules.find((rule) => getExpressions(rule).some(({ compiled }) => compiled.matcher(text).find()));
}

/** Replaces the matches that are not empty in the text from an offset on. The replacement is literal. */
function replaceMatches(compiled: RE2JS, text: string, replacement: string, from: number): string {
  const matcher = compiled.matcher(text);
  let result = "";
  let end = from;
  while (matcher.find()) {
    if (matcher.end() === matcher.start() || matcher.end() <= from) continue;
    result += text.slice(end, matcher.start()) + replacement;
    end = matcher.end();
  }
  return end === 0 ? text : result + text.slice(end);
}

/**
 * The largest position up to `position` at which a text can be cut without cutting a match: the start of the match that
 * contains the position.
 */
export function findCut(rules: readonly Guardrail[], text: string, position: number): number {
  let cut = position;
  for (;;) {
    const before = cut;
    for (const rule of rules) {
      for (const { compiled } of getExpressions(rule)) {
        const matcher = compiled.matcher(text);
        while (matcher.find() && matcher.start() < cut) {
          if (matcher.end() > cut) cut = matcher.start();
        }
      }
    }
    // A cut that moved may be within a match of another expression.
    if (cut === before) return cut;
  }
}
