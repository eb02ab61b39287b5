import { conditionPhrases, type GrantCondition } from '../../../model/grant-condition.js';
import { PhraseText } from '../../part/phrase-text.js';

/** Condition of a grant, below the role or relation; nothing for an unconditional grant. */
export function ConditionText({ condition }: { readonly condition: GrantCondition | undefined }) {
	if (condition === undefined) return null;
	return (
		<div class="quiet">
			under <PhraseText phrases={conditionPhrases(condition)} />
		</div>
	);
}
