import { useState } from "preact/hooks";
import { listModels } from "../../api/models.ts";
import type { Price } from "../../api/settings.ts";
import { findPriceFaults, parsePrice, toPriceDraft } from "../../shared/price-draft.ts";
import { PriceFields } from "../../shared/price-fields.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { rejectFaults } from "../../ui/form-errors.ts";
import { useLoaded } from "../../ui/use-loaded.ts";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

interface PriceFormProps {
  /** Empty: a new price. */
  readonly model: string;
  readonly price: Price | undefined;
  readonly onClose: () => void;
  readonly onSave: (model: string, price: Price) => Promise<void>;
}

export function PriceForm({ model, price, onClose, onSave }: PriceFormProps) {
  const [name, setName] = useState(model);
  const [draft, setDraft] = useState(() => toPriceDraft(price));
  const { data: models } = useLoaded(listModels);
  const submit = async () => {
    rejectFaults(findPriceFaults(draft));
    const parsed = parsePrice(draft);
    if (parsed !== null) await onSave(name.trim(), parsed);
  };
  return (
    <FormDialog
      title={model === "" ? texts.addPrice : texts.changePrice}
      action={texts.savePrice}
      submit={submit}
      onClose={onClose}
      wide
    >
      <TextField
        label={words.model}
        value={name}
        onChange={setName}
        required
        mono
        focus
        suggestions={models ?? []}
        hint={texts.priceModelHint}
      />
      <PriceFields prices={draft} onChange={setDraft} required />
    </FormDialog>
  );
}
