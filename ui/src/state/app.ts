// How components reach the state without passing it through every level.
import { getContext, setContext } from 'svelte';

import type { ProjectState } from './project.svelte';

const key = Symbol('project');

/** Makes the project reachable for all components below. */
export function provideProject(project: ProjectState): void {
  setContext(key, project);
}

/** The window's project, where there is a window around; call while a component is set up. */
export function useProject(): ProjectState | undefined {
  return getContext<ProjectState | undefined>(key);
}
