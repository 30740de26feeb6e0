import * as z from "zod";
import { once } from "../encoding/once.ts";

/** Ids of providers, proxies and guardrails. No slash, because `provider/model` names a model. */
const ENTRY_ID = /^[A-Za-z\d](?:[\w.-]{0,62}[A-Za-z\d])?$/;
/** Ids of teams, users, tags and administrators: no comma, because lists of tags have commas. */
export const SUBJECT_ID = /^[A-Za-z\d_][\w.:@+=-]{0,63}$/;

/** The rule for ids, for error messages. */
const describeIdRule = (further: string, ends: string): string =>
  `an id has 1 to 64 characters: letters, digits and ${further}, with ${ends}`;

export const ENTRY_ID_RULE = describeIdRule(". _ -", "a letter or digit first and last");
export const SUBJECT_ID_RULE = describeIdRule(". _ - : @ + =", "a letter, a digit or _ first");

/** The id of a new entry other than a subject. Stored ids may be others, where an earlier version allowed them. */
export const entryIdSchema = once(() => z.string("an id is needed").trim().regex(ENTRY_ID, ENTRY_ID_RULE));

export const subjectIdSchema = once(() =>
  z.string("an id is needed").trim().regex(SUBJECT_ID, SUBJECT_ID_RULE),
);
