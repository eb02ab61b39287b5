import { useSignal } from '@preact/signals';
import { isProductionEnvironment } from '../../../model/production.js';
import { Failure, SubmitButton, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { CheckField } from '../../../part/check-field.js';
import { bound, setter } from '../../../part/setter.js';
import { TextField } from '../../../part/text-field.js';
import { management } from '../../api.js';
import { confirmWrite } from '../../part/confirm.js';
import { mayWrite, openSession } from '../../session.js';

/** Copies this environment's schema to a new or existing environment in the project. */
export function PromoteSchema() {
	const { environment } = openSession();
	const targetKey = useSignal('');
	const isNew = useSignal(false);
	const overwrites = useSignal(false);
	const work = useWork();
	if (!mayWrite.value) return null;
	const copy = async () => {
		const key = targetKey.value.trim();
		const question = `Copy the schema from ${environment.key} to ${key}? Facts do not change.`;
		const target = { key, production: await isInProduction(key) };
		if (!(await confirmWrite('Copy schema', question, { always: true, target }))) return;
		const target_env = isNew.value ? { new: { key, name: key } } : { existing: key };
		const conflict_strategy = overwrites.value ? ('overwrite' as const) : ('fail' as const);
		const copied = await management.post('/v2/projects/{proj_id}/envs/{env_id}/copy', {
			body: { target_env, conflict_strategy },
		});
		announce(`Schema copied to ${copied.key}.`);
	};
	return (
		<>
			<h2>Promote</h2>
			<p class="quiet about">
				Copies resources, roles, relations and condition sets, without facts. The copy stops if an object differs,
				unless you overwrite differences. To preview the impact, open the target environment, compare it with this one,
				and draft the changes.
			</p>
			<form class="columns" onSubmit={work.submit(copy)}>
				<TextField label="Target environment key" required spellcheck={false} {...bound(targetKey)} />
				<div class="line whole">
					<CheckField checked={isNew.value} onChecked={setter(isNew)}>
						Create the environment
					</CheckField>
					<CheckField checked={overwrites.value} onChecked={setter(overwrites)}>
						Overwrite differences
					</CheckField>
				</div>
				<SubmitButton work={work} secondary>
					Copy schema
				</SubmitButton>
			</form>
			<Failure text={work.failure} />
		</>
	);
}

/**
 * True if the environment with this key is a production environment. If it does not exist yet, its key decides. Throws
 * `ApiFailure`.
 */
async function isInProduction(key: string): Promise<boolean> {
	const path = { proj_id: openSession().project.key };
	const found = await management.get('/v2/projects/{proj_id}/envs', { path, query: { per_page: 100 } });
	return isProductionEnvironment(found.find((one) => one.key === key) ?? { key });
}
