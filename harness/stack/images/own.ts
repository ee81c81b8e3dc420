/** Images that come with hopdrill, from which those of a platform are made. */
export const baseImage = 'hopdrill-base';
export const toxiproxyImage = 'hopdrill-toxiproxy';
export const ownImages: readonly string[] = [baseImage, toxiproxyImage];
