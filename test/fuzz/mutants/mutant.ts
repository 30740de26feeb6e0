/** A fault to be put into a file of the tool scanner: the text `from`, which must stand there once, becomes `to`. */
export interface Mutant {
  name: string;
  file: string;
  from: string;
  to: string;
}

/** @param file Name of the file without its extension. */
export function mutantOf(file: string, name: string, from: string, to: string): Mutant {
  return { file: `${file}.ts`, name: `${file}: ${name}`, from, to };
}
