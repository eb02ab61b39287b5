import type { Phrase } from '../../../model/phrase.js';
import { CheckField } from '../../../part/check-field.js';
import { PhraseText } from '../../part/phrase-text.js';

interface CheckChoice {
	readonly value: string;
	readonly phrases: readonly Phrase[];
}

interface ChecksProps {
	readonly choices: readonly CheckChoice[];
	readonly chosen: readonly string[];
	readonly onChosen: (chosen: readonly string[]) => void;
	/** True for long texts, which need wide columns. */
	readonly wide?: boolean;
}

/** Checkboxes for a list of values. */
export function Checks({ choices, chosen, onChosen, wide = false }: ChecksProps) {
	return (
		<div class={wide ? 'model-checks wide' : 'model-checks'}>
			{choices.map(({ value, phrases }) => (
				<CheckField
					key={value}
					checked={chosen.includes(value)}
					onChecked={(checked) => {
						const others = chosen.filter((one) => one !== value);
						onChosen(checked ? [...others, value] : others);
					}}
				>
					<PhraseText phrases={phrases} />
				</CheckField>
			))}
		</div>
	);
}

interface CheckListProps extends ChecksProps {
	readonly legend: string;
	readonly hint?: string;
	/** Text in place of an empty list of choices: the next step. */
	readonly empty: string;
}

/** Group of checkboxes with a legend. */
export function CheckList({ legend, hint, empty, ...checks }: CheckListProps) {
	return (
		<fieldset>
			<legend>{legend}</legend>
			{checks.choices.length === 0 ? (
				<p class="quiet">{empty}</p>
			) : (
				<>
					{hint !== undefined && <p class="quiet">{hint}</p>}
					<Checks {...checks} />
				</>
			)}
		</fieldset>
	);
}
