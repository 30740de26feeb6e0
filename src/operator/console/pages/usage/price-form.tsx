import { useState } from "preact/hooks";
import { listModels } from "../../api/models.ts";
import type { Price } from "../../api/settings.ts";
import { findPriceFaults, parsePrice, toPriceDraft } from "../../shared/price-draft.ts";
import { PriceFields } from "../../shared/price-fields.tsx";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/forms/field.tsx";
import { FormDialog, STAYS_OPEN } from "../../ui/forms/form-dialog.tsx";
import { rejectFaults } from "../../ui/forms/form-errors.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Notice } from "../../ui/notice.tsx";
import { words } from "../../ui/words.ts";
import { checkPriceName, type UnknownPriceName } from "./check-price-name.ts";
import { texts } from "./texts.ts";

interface PriceFormProps {
  /** Empty: a new price. */
  readonly model: string;
  /** The name that a new price has at first. */
  readonly proposal?: string;
  readonly price: Price | undefined;
  readonly onClose: () => void;
  readonly onSave: (model: string, price: Price) => Promise<void>;
}

export function PriceForm({ model, proposal = model, price, onClose, onSave }: PriceFormProps) {
  const [name, setName] = useState(proposal);
  const [draft, setDraft] = useState(() => toPriceDraft(price));
  const { data: models } = useLoaded(listModels);
  /** The name about which the form has warned; null: none. */
  const [unknown, setUnknown] = useState<UnknownPriceName | null>(null);
  const isWarned = unknown?.name === name.trim();
  const submit = async () => {
    rejectFaults(findPriceFaults(draft));
    const parsed = parsePrice(draft);
    if (parsed === null) return undefined;
    if (!isWarned && name.trim() !== model) {
      const found = await checkPriceName(name.trim()).catch(() => null);
      setUnknown(found);
      if (found !== null) return STAYS_OPEN;
    }
    return onSave(name.trim(), parsed);
  };
  return (
    <FormDialog
      title={model === "" ? texts.addPrice : texts.changePrice}
      action={isWarned ? texts.savePriceAnyway : texts.savePrice}
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
      {isWarned && (
        <div role="alert" class="stack">
          <Notice kind="warning">
            {texts.noModelHasName(unknown.name)}
            {unknown.near.length > 0 && (
              <>
                {" "}
                {texts.didYouMean}{" "}
                {unknown.near.map((near) => (
                  <Button key={near} kind="quiet" onClick={() => setName(near)}>
                    {near}
                  </Button>
                ))}
              </>
            )}
          </Notice>
        </div>
      )}
      <PriceFields prices={draft} onChange={setDraft} required />
    </FormDialog>
  );
}
