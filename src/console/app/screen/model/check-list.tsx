import type { Phrase } from '../../../model/phrase.js';
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
				<label key={value} class="inline">
					<input
						type="checkbox"
						checked={chosen.includes(value)}
						onChange={(event) => {
							const others = chosen.filter((one) => one !== value);
							onChosen(event.currentTarget.checked ? [...others, value] : others);
						}}
					/>
					<span>
						<PhraseText phrases={phrases} />
					</span>
				</label>
			))}
		</div>
	);
}

interface CheckListProps extends ChecksProps {
	readonly legend: string;
	readonly hint?: string;
	/** Text without choices: the next step. */
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
