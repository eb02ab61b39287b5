import { SelectField } from '../../../part/select-field.js';
import { management } from '../../api.js';
import { openSession } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';

interface EnvironmentChoiceProps {
	readonly label: string;
	readonly value: string;
	readonly onValue: (key: string) => void;
}

/**
 * Selection among the project's environments that the key can access, except the open one. Shows a message if there are
 * none.
 */
export function EnvironmentChoice({ label, value, onValue }: EnvironmentChoiceProps) {
	const { project, environment } = openSession();
	const { value: found } = useLoaded(
		(signal) =>
			management.get('/v2/projects/{proj_id}/envs', {
				path: { proj_id: project.key },
				query: { per_page: 100 },
				signal,
			}),
		[],
	);
	const others = (found ?? []).filter(({ id }) => id !== environment.id);
	if (found !== null && others.length === 0) {
		return <p class="quiet">This session’s API key has no access to other environments in the project.</p>;
	}
	return (
		<SelectField
			inline
			label={label}
			value={value}
			empty="Choose…"
			options={others.map(({ key }) => key)}
			onValue={onValue}
		/>
	);
}
