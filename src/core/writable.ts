/** An object whose members may be set, for its creation step by step. */
export type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
