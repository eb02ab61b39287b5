import { useSignal } from '@preact/signals';
import { consolePath } from '../../model/console-place.js';
import { Failure, SubmitButton, useWork } from '../../part/action-button.js';
import { shellManagement } from '../api.js';
import { openEnvironment, openSession } from '../session.js';
import { useSideData } from '../use-loaded.js';

interface Listed {
	readonly project: string;
	readonly environment: string;
	readonly name: string;
}

/** The open environment, and links to the other environments that the key can access. */
export function EnvironmentSwitch() {
	const { project, environment, key } = openSession();
	const work = useWork();
	const chosen = useSignal('');
	const here = `${project.key}/${environment.key}`;
	const { value } = useSideData(() => (key.object_type === 'env' ? Promise.resolve([]) : readEnvironments()), []);
	const others = (value ?? []).filter((one) => `${one.project}/${one.environment}` !== here);
	if (others.length === 0) return <strong class="environment">{here}</strong>;
	const open = async (name: string) => {
		const target = others.find((one) => `${one.project}/${one.environment}` === name);
		if (target === undefined) return;
		await openEnvironment(target.project, target.environment);
		// Load a new page to discard this environment's state.
		location.assign(consolePath({ project: target.project, environment: target.environment, screen: '' }));
	};
	return (
		<form
			class="line environment"
			onSubmit={(event) => {
				event.preventDefault();
				const name = chosen.value;
				void work.run(async () => {
					try {
						await open(name);
					} catch (error) {
						// The selection in the bar must show the open environment.
						chosen.value = '';
						throw error;
					}
				});
			}}
		>
			<label class="inline">
				<span class="unseen">Environment</span>
				<select
					value={chosen.value === '' ? here : chosen.value}
					onChange={(event) => {
						chosen.value = event.currentTarget.value === here ? '' : event.currentTarget.value;
					}}
				>
					<option value={here}>{here}</option>
					{others.map((one) => (
						<option key={`${one.project}/${one.environment}`} value={`${one.project}/${one.environment}`}>
							{one.project}/{one.environment}
						</option>
					))}
				</select>
			</label>
			{chosen.value !== '' && <SubmitButton work={work}>Open</SubmitButton>}
			<Failure text={work.failure} />
		</form>
	);
}

async function readEnvironments(): Promise<readonly Listed[]> {
	const projects = await shellManagement.get('/v2/projects', { query: { per_page: 100 } });
	const lists = await Promise.all(
		projects.map(async (project) => {
			const path = { proj_id: project.key };
			const found = await shellManagement.get('/v2/projects/{proj_id}/envs', { path, query: { per_page: 100 } });
			return found.map(({ key, name }) => ({ project: project.key, environment: key, name }));
		}),
	);
	return lists.flat();
}
