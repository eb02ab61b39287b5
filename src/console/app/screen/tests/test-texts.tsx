import { type Expected, testedCheckPhrases } from '../../../model/check/check-test.js';
import { visibleText } from '../../../model/visible-text.js';
import { KeyLink } from '../../part/key-link.js';
import { PhraseText } from '../../part/phrase-text.js';
import { screenPath } from '../../screen-path.js';

interface TestLinkProps {
	readonly test: { readonly key: string; readonly description: string | null };
}

/** Link to a test's page, with the description. */
export function TestLink({ test: { key, description } }: TestLinkProps) {
	return (
		<>
			<KeyLink href={screenPath(`tests/${key}`)} text={key} />
			{description !== null && <div class="quiet">{visibleText(description)}</div>}
		</>
	);
}

export function TestedCheckText({ check }: { readonly check: unknown }) {
	return (
		<span class="tests-check">
			<PhraseText phrases={testedCheckPhrases(check)} />
		</span>
	);
}

/** Words for the expected results. */
export const expectedWords = { allow: 'allowed', deny: 'denied' } as const;

export function ExpectedText({ expected }: { readonly expected: Expected }) {
	return <span class={expected === 'allow' ? 'badge good' : 'badge bad'}>{expectedWords[expected]}</span>;
}
