import type { Phrase } from '../../model/phrase.js';
import { KeyText } from './key-text.js';

/** Sentence with highlighted keys and schema names. */
export function PhraseText({ phrases }: { readonly phrases: readonly Phrase[] }) {
	return (
		<>
			{phrases.map((phrase, index) => {
				if (typeof phrase === 'string') return phrase;
				if ('key' in phrase) return <KeyText key={index} text={phrase.key} />;
				return (
					<code key={index} class="name">
						<KeyText text={phrase.name} />
					</code>
				);
			})}
		</>
	);
}
