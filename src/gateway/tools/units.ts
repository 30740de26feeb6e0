/*
 * The UTF-16 units that the scanner looks for. This file has constants alone: the bundler writes their values into the
 * other files, so that the inner loops read no variables.
 */

export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const RETURN = 0x0d;
export const SPACE = 0x20;
export const HASH = 0x23;
export const LESS = 0x3c;
export const GREATER = 0x3e;
export const BACKSLASH = 0x5c;
export const BACKTICK = 0x60;
export const BRACE = 0x7b;
export const TILDE = 0x7e;

/** Flags of units, which `UNIT_FLAGS` has for each: groups that the scanner looks for together. */
export const OPENER_FLAG = 1;
export const BACKTICK_FLAG = 2;
export const LINE_FEED_FLAG = 4;
export const BACKSLASH_FLAG = 8;
export const AMPERSAND_FLAG = 16;
export const BRACKET_FLAG = 32;
