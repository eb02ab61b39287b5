import type { RoleSource } from '../../../model/check/attempt.js';
import { heldRolePhrases, isContextualSource, roleSourcePhrases } from '../../../model/check/role-source.js';
import { PhraseText } from '../../part/phrase-text.js';
import type { CheckAnswer } from './ask-check.js';

/** Roles that allow a check with contextual facts. Marks the role sources that are contextual facts. */
export function ContextualSources({ answer: { facts, debug } }: { readonly answer: CheckAnswer }) {
	const roles = debug.rebac?.allowing_roles ?? [];
	const mark = (source: RoleSource) => isContextualSource(source, facts);
	return (
		<>
			{roles.length > 0 && (
				<>
					<h2>Roles on the instance</h2>
					<ul class="check-sources">
						{roles.map(({ role, sources }) => (
							<li key={role}>
								<PhraseText phrases={heldRolePhrases(role)} />
								<ul>
									{sources.map((source) => (
										<li key={JSON.stringify(source)}>
											<PhraseText phrases={roleSourcePhrases(source)} />{' '}
											{mark(source) && <span class="badge warn">contextual</span>}
										</li>
									))}
								</ul>
							</li>
						))}
					</ul>
				</>
			)}
			<p class="quiet">To see other ways to allow the check, remove the contextual facts.</p>
		</>
	);
}
