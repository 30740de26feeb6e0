import { formatPlural } from "../../ui/count.ts";
import type { PageTexts } from "../page-texts.ts";

export const captures: PageTexts["captures"] = {
  exchange: "Austausch",
  answer: "Antwort",
  bytes: "Bytes",
  took: "Dauer",
  keepAsSample: (label) => `${label} als Beispiel behalten`,
  keep: "Behalten",
  bodiesCut: "; Bodys gekürzt",
  historyLink: "Die Anfrage im Verlauf",
  parts: "Teile des Austauschs",
  http: (status, responseHeaders, responseBody) => `HTTP ${status}
${responseHeaders}

${responseBody}`,
  capturingStopped: "Mitschneiden beendet",
  capturing: "Mitschneiden läuft",
  stopCapturing: "Mitschneiden beenden",
  startCapturing: "Mitschneiden beginnen",
  lead: "Austausch mit dem Provider, mit maskierten Geheimnissen. Ein als Beispiel behaltener Mitschnitt lässt sich später wiedergeben.",
  exchanges: "Mitschnitte",
  capturesCleared: "Mitschnitte gelöscht",
  clear: "Leeren",
  nothingCapturedYet: "Noch nichts mitgeschnitten",
  capturingOff: "Mitschneiden ist aus",
  newestAreListed: (limit) => `Hier erscheinen die neuesten ${limit} Mitschnitte.`,
  capturingOffHint: "Mitschneiden kostet Zeit und Speicher. Es dient der Fehlersuche.",
  keptAsSample: "Als Beispiel behalten",
  sampleTaken: "Beispiel aufgenommen",
  sampleDeleted: "Beispiel gelöscht",
  sample: "Beispiel",
  kept: "Behalten",
  rounds: "Runden",
  roundCount: (count) => formatPlural(count, "Runde", "Runden"),
  download: (id) => `${id} herunterladen`,
  downloadTitle: "Herunterladen",
  delete: (id) => `${id} löschen`,
  samples: "Beispiele",
  sampleMessage: "Hallo! Wer bist du?",
  takeSample: "Senden und Rohantwort behalten",
  noSamples: "Es gibt keine Beispiele.",
};
