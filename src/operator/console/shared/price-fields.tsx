import { useState } from "preact/hooks";
import { TextField } from "../ui/forms/field.tsx";
import { CACHE_PRICES, FURTHER_PRICES, type PriceDraft, TOKEN_PRICES } from "./price-draft.ts";
import { texts } from "./texts.ts";

interface PriceFieldsProps {
  readonly prices: PriceDraft;
  readonly onChange: (prices: PriceDraft) => void;
  /** A price without a price of input and of output is none. */
  readonly required?: boolean;
}

/** Form fields for a price. Those that few models need are open at first if one is set. */
export function PriceFields({ prices, onChange, required = false }: PriceFieldsProps) {
  const [isOpenAtFirst] = useState(() => FURTHER_PRICES.some(({ name }) => (prices[name] ?? "") !== ""));
  const renderFields = (fields: typeof TOKEN_PRICES) => (
    <div class={fields === FURTHER_PRICES ? "limit-grid ends-level" : "limit-grid"}>
      {fields.map(({ name, label, hint }) => (
        <TextField
          key={name}
          label={label}
          path={`price.${name}`}
          type="number"
          min={0}
          required={required && fields === TOKEN_PRICES}
          value={prices[name] ?? ""}
          onChange={(text) => onChange({ ...prices, [name]: text })}
          {...(hint !== undefined && { hint })}
        />
      ))}
    </div>
  );
  return (
    <>
      {renderFields(TOKEN_PRICES)}
      {renderFields(CACHE_PRICES)}
      <details open={isOpenAtFirst}>
        <summary>{texts.furtherPrices}</summary>
        <div class="stack">
          <p class="hint">{texts.furtherPricesHint}</p>
          {renderFields(FURTHER_PRICES)}
        </div>
      </details>
    </>
  );
}
