import type { Attempt } from '../../../model/check/attempt.js';
import { attemptExcerpts, type PolicyFile } from '../../../model/policy/rego-lines.js';
import { CodeView } from '../../part/code/code-view.js';
import { KeyLink } from '../../part/key-link.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { screenPath } from '../../screen-path.js';
import type { Loaded } from '../../use-loaded.js';

interface AttemptRegoProps {
	readonly attempt: Attempt;
	readonly policy: Loaded<readonly PolicyFile[]>;
	/** Revision whose policy decided the check. */
	readonly revision: number | null;
}

/** Rego for an attempt: the rule that grants the action, and the rules that grant each role. */
export function AttemptRego({ attempt, policy, revision }: AttemptRegoProps) {
	const address = (file: string, line: number) =>
		`${screenPath('policy', { file, revision: revision === null ? '' : String(revision) })}#L${line}`;
	return (
		<LoadedFrame loaded={policy}>
			{(files) => {
				const excerpts = attemptExcerpts(files, attempt);
				if (excerpts.length === 0) {
					return (
						<p class="quiet">
							This policy has no rule <code>{attempt.policy.rule}</code> in <KeyText text={attempt.policy.file} />.
						</p>
					);
				}
				return excerpts.map(({ file, from, text, marked }) => (
					<div key={`${file} ${from}`} class="check-rego">
						<KeyLink href={address(file, marked[0] ?? from)} text={file} />
						<CodeView
							text={text}
							language="rego"
							label={`${file}, from line ${from}`}
							firstLine={from}
							marked={marked}
							lineAddress={(line) => address(file, line)}
							anchored={false}
						/>
					</div>
				));
			}}
		</LoadedFrame>
	);
}
