import { management } from '../../api.js';
import { CodeText } from '../../part/code/code-text.js';
import { KeyText } from '../../part/key-text.js';
import { TimeText } from '../../part/time-text.js';
import { newestRevision } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';

/** Reason why the active policy does not match the newest schema. Shows nothing if it matches. */
export function PolicyState() {
	const { value, failure } = useLoaded(
		(signal) => management.get('/v2/projects/{proj_id}/{env_id}/policy', { signal }),
		[newestRevision.value],
	);
	if (value === null) return failure === null ? null : <p class="failure">{failure.message}</p>;
	const { failure: notCompiled, degraded, compiled_revision, schema_revision } = value;
	return (
		<>
			{notCompiled !== null && (
				<section class="notice" role="alert">
					<p>
						<strong>The schema of revision {notCompiled.revision} does not compile.</strong>{' '}
						{compiled_revision === null
							? 'No policy is active yet.'
							: `The policy of revision ${compiled_revision} stays active. Removed access is already denied; added access waits for the new policy.`}
					</p>
					<CodeText>{notCompiled.message}</CodeText>
				</section>
			)}
			{notCompiled === null && compiled_revision !== null && compiled_revision < schema_revision && (
				<p class="notice" role="status">
					Compiling the schema of revision {schema_revision}. Until it is active, checks use the policy of revision{' '}
					{compiled_revision}.
				</p>
			)}
			{degraded !== null && (
				<section class="notice">
					<p>
						<strong>{degraded.detail}</strong> Since <TimeText at={degraded.since} />, {degraded.revisions_behind}{' '}
						revisions behind.
					</p>
					{degraded.left_out.length > 0 && (
						<ul>
							{degraded.left_out.map(({ object, message }) => (
								<li key={object}>
									<KeyText text={object} />: {message}
								</li>
							))}
						</ul>
					)}
				</section>
			)}
		</>
	);
}
