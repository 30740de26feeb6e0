import { useState } from "preact/hooks";
import type { Price } from "../api/settings.ts";
import { TextField } from "../ui/field.tsx";
import { texts } from "./texts.ts";

/** The members of a price that few models need, with their labels. */
const FURTHER_PRICES = [
  ["reasoning", texts.reasoningPrice],
  ["audio_input", texts.audioInputPrice],
  ["audio_output", texts.audioOutputPrice],
  ["image_input", texts.imageInputPrice],
  ["image_output", texts.imageOutputPrice],
  ["web_searches_1k", texts.webSearchesPrice],
  ["search_units_1k", texts.searchUnitsPrice],
  ["audio_hour", texts.audioHourPrice],
] as const satisfies readonly (readonly [keyof Price, string])[];

/** Input values of these members, as texts. Absent or empty: no price. */
export type FurtherPrices = Readonly<Record<string, string>>;

/** Returns the input values for a price. */
export function toFurtherPrices(price: Price | undefined): FurtherPrices {
  const set = FURTHER_PRICES.map(([name]) => [name, price?.[name]] as const);
  return Object.fromEntries(
    set.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}

/** Converts the input values to members of a price. */
export function parseFurtherPrices(prices: FurtherPrices): Partial<Price> {
  const given = Object.entries(prices).filter(([, text]) => text.trim() !== "");
  return Object.fromEntries(given.map(([name, text]) => [name, Number(text)]));
}

interface FurtherPriceFieldsProps {
  readonly prices: FurtherPrices;
  readonly onChange: (prices: FurtherPrices) => void;
}

/** Form fields for the members of a price that few models need. They are open at first if one is set. */
export function FurtherPriceFields({ prices, onChange }: FurtherPriceFieldsProps) {
  const [isOpenAtFirst] = useState(() => Object.values(prices).some((text) => text !== ""));
  return (
    <details open={isOpenAtFirst}>
      <summary>{texts.furtherPrices}</summary>
      <div class="stack">
        <p class="hint">{texts.furtherPricesHint}</p>
        <div class="limit-grid">
          {FURTHER_PRICES.map(([name, label]) => (
            <TextField
              key={name}
              label={label}
              type="number"
              min={0}
              value={prices[name] ?? ""}
              onChange={(text) => onChange({ ...prices, [name]: text })}
            />
          ))}
        </div>
      </div>
    </details>
  );
}
