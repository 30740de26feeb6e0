/** Reduces raw fingerprints (technologies by name, categories by id) to the text that the detector reads. */
export function slimFingerprints(technologies: object, categories: object): string;

/** Writes `dist/assets/data/technologies.json` from the packaged fingerprints, and returns its path. */
export function buildTechnologies(): Promise<string>;
