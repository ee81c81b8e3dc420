// allure-vitest looks the running test up through this package; vitest 5 keeps that in itself.
import { TestRunner } from 'vitest';
export const getCurrentTest = () => TestRunner.getCurrentTest();
export const getCurrentSuite = () => TestRunner.getCurrentSuite();
