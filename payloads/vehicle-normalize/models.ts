import type { Make } from './makes';
import { fold } from './spelling';

/** Well-known models by make: enough to propose makes for a name that bears none. It never decides. */
const MODELS_BY_MAKE: Partial<Record<Make, string>> = {
  'Alfa Romeo': 'alfetta, giulia, giulietta, spider',
  AMC: 'ambassador, concord, gremlin, hornet, javelin, matador, pacer',
  Austin: 'allegro, maestro, metro',
  Buick: 'century, electra, lesabre, regal, riviera, skyhawk, skylark',
  Cadillac: 'eldorado, escalade, fleetwood, seville',
  Chevrolet:
    'bel air, camaro, caprice, cavalier, chevelle, chevette, citation, corvette, impala, malibu, monte carlo, monza, nova, vega',
  Chrysler: 'cordoba, lebaron, new yorker, newport, town & country',
  Citroën: '2cv, dyane',
  Datsun: 'bluebird, cherry, fairlady, sunny',
  Dodge: 'aries, aspen, challenger, charger, colt, coronet, dart, diplomat, monaco, omni, viper',
  Fiat: 'panda, spider, strada, uno',
  Ford: 'capri, cortina, escort, fairmont, fiesta, galaxie, granada, ltd, maverick, mustang, pinto, ranger, taunus, thunderbird, torino',
  GMC: 'jimmy, sierra, suburban',
  Honda: 'accord, civic, prelude',
  'International Harvester': 'scout, travelall',
  Jaguar: 'e-type, xj6, xjs',
  Jeep: 'cherokee, wagoneer, wrangler',
  Lancia: 'delta, fulvia, stratos',
  'Land Rover': 'defender, discovery, range rover',
  Lincoln: 'continental, town car',
  Mazda: '626, glc, miata, rx-7',
  Mercury: 'capri, cougar, grand marquis, lynx, marquis, monarch, zephyr',
  MG: 'mgb, midget',
  Mini: 'clubman, cooper, countryman',
  Mitsubishi: 'colt, galant, lancer, pajero',
  Nissan: 'maxima, pathfinder, sentra, stanza, sunny',
  Oldsmobile: 'cutlass, delta 88, omega, starfire, toronado',
  Opel: 'ascona, kadett, manta, rekord',
  Plymouth: 'barracuda, colt, cuda, duster, fury, horizon, reliant, satellite, valiant, volare',
  Pontiac: 'bonneville, catalina, firebird, grand prix, gto, lemans, phoenix, sunbird, ventura',
  Porsche: '911, 924, 944, boxster',
  Renault: 'clio, lecar, twingo',
  Subaru: 'forester, impreza, legacy',
  Toyota: 'carina, celica, corolla, corona, cressida, starlet, supra, tercel',
  Triumph: 'spitfire, stag, tr7',
  Vauxhall: 'astra, cavalier, chevette, viva',
  Volkswagen: 'beetle, dasher, golf, jetta, passat, polo, rabbit, scirocco, super beetle',
  Volvo: 'amazon, pv544',
};

/** The makes that built a model of that name (folded), in the order of the table. */
export const MODELS: ReadonlyMap<string, readonly Make[]> = (() => {
  const models = new Map<string, Make[]>();
  for (const [make, names] of Object.entries(MODELS_BY_MAKE) as [Make, string][]) {
    for (const model of names.split(', ').map(fold)) models.set(model, [...(models.get(model) ?? []), make]);
  }
  return models;
})();
