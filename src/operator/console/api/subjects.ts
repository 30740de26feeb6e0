import { callApi, callVersioned } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";
import { countErased } from "./keys.ts";
import { sendUndoable } from "./undo.ts";

/** The lists of entries that share limits among requests. */
export const SUBJECT_LISTS = ["teams", "users", "tags"] as const;
export type SubjectList = (typeof SUBJECT_LISTS)[number];

/** A team, a user or a tag. */
export type Subject = AnswerOf<"GET /admin/teams/:id">;
/** What history and captures keep of requests. */
export type HistoryMode = Subject["history"];

export const listSubjects = (list: SubjectList, signal?: AbortSignal) =>
  callApi(`GET /admin/${list}`, { signal });

export const readSubject = (list: SubjectList, id: string) =>
  callVersioned(`GET /admin/${list}/:id`, { params: { id } });

export const addSubject = (list: SubjectList, body: BodyOf<"POST /admin/teams">) =>
  callApi(`POST /admin/${list}`, { body });

export const changeSubject = (
  list: SubjectList,
  id: string,
  body: BodyOf<"PUT /admin/teams/:id">,
  ifMatch: string | undefined,
) => callApi(`PUT /admin/${list}/:id`, { params: { id }, body, ifMatch });

/** Erases everything that is stored of the requests with a user's keys. Returns the number of entries. */
export const eraseUserData = async (id: string) =>
  countErased(await callApi("DELETE /admin/users/:id/data", { params: { id } }));

export const deleteSubject = (list: SubjectList, id: string) =>
  sendUndoable(`DELETE /admin/${list}/:id`, { params: { id } });
