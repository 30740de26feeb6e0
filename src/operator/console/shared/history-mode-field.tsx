import type { HistoryMode } from "../api/subjects.ts";
import { type Choice, SelectField } from "../ui/forms/field.tsx";
import { texts } from "./texts.ts";

/** All modes, from most to least that is kept. */
const MODES: readonly HistoryMode[] = ["full", "redacted", "no_texts", "none"];
const CHOICES: readonly Choice[] = MODES.map((mode) => [mode, texts.historyModes[mode]]);

interface HistoryModeFieldProps {
  readonly value: HistoryMode;
  readonly onChange: (mode: HistoryMode) => void;
}

/** Field for what history and captures keep of requests. */
export function HistoryModeField({ value, onChange }: HistoryModeFieldProps) {
  return (
    <SelectField
      label={texts.historyKeeps}
      hint={texts.strictestModeCounts}
      value={value}
      onChange={(text) => onChange(MODES.find((mode) => mode === text) ?? "full")}
      choices={CHOICES}
    />
  );
}
