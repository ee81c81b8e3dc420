import tseslint from 'typescript-eslint';

// Biome formats and lints; this file is here for the rules that need types.
export default tseslint.config(
  { ignores: ['node_modules/**', 'reports/out/**', 'fixtures/gpuaas/console/**/*.js'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.base],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      'max-lines': ['error', { max: 300 }],
      'max-lines-per-function': ['error', { max: 70, skipComments: true, skipBlankLines: true }],
    },
  },
  { files: ['tests/**/*.ts', '**/*.test.ts'], rules: { 'max-lines-per-function': 'off' } },
);
