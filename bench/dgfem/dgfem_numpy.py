"""dgfem_numpy.py -- the right-hand sides in NumPy: the same operators as in examples/dgfem."""

import numpy as np

DIVERGENCE = "xre,rmn,xen->em"
GRADIENT = "xre,rmn,en->xem"
LIFT = "mfk,fe,fek->em"
MASS = "e,mn,en->em"


class Space:
    """What operators are made of; the order of contractions is found once."""

    def __init__(self, metric, inverse_jacobian, surface, normal, across, across_nodes, wall,
                 stiffness, inverse_mass, face_mass, face_nodes):
        self.metric, self.stiffness = metric, stiffness
        self.face_mass, self.surface = face_mass, surface
        self.inverse_jacobian, self.inverse_mass = inverse_jacobian, inverse_mass
        self.normal, self.wall = normal[..., None], wall[..., None].astype(np.float64)
        self.across, self.across_nodes = across[..., None], across_nodes
        self.own = np.arange(metric.shape[2])[None, :, None]
        self.own_nodes = face_nodes[:, None, :]
        self.paths = {}

    def einsum(self, letters, *operands):
        if letters not in self.paths:
            self.paths[letters] = np.einsum_path(letters, *operands, optimize="optimal")[0]
        return np.einsum(letters, *operands, optimize=self.paths[letters])

    def inside(self, field):
        return field[self.own, self.own_nodes]

    def outside(self, field):
        return field[self.across, self.across_nodes]

    def divergence(self, flux):
        return self.einsum(DIVERGENCE, self.metric, self.stiffness, np.stack(flux))

    def gradient(self, field):
        return self.einsum(GRADIENT, self.metric, self.stiffness, field)

    def lift(self, values):
        return self.einsum(LIFT, self.face_mass, self.surface, values)

    def solve_mass(self, field):
        return self.einsum(MASS, self.inverse_jacobian, self.inverse_mass, field)


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def wave(space, u, *v):
    gradient = space.gradient(u)
    inside = space.inside(u)
    outside = (1 - 2 * space.wall) * space.outside(u)
    mean, jump = 0.5 * (inside + outside), 0.5 * (outside - inside)
    sides = [(space.inside(part), space.outside(part)) for part in v]
    v_mean = [0.5 * (here + there) for here, there in sides]
    v_jump = [0.5 * (there - here) for here, there in sides]
    flux = dot(space.normal, v_mean) + jump
    rates = [space.solve_mass(space.lift(flux) - space.divergence(v))]
    flux = mean + dot(space.normal, v_jump)
    for n, slope in zip(space.normal, gradient):
        rates.append(space.solve_mass(space.lift(n * flux) - slope))
    return rates


def complete(q):
    volume = 1 / q[0]
    velocity = [part * volume for part in q[2:]]
    return q, velocity, 0.4 * (q[1] - 0.5 * dot(q[2:], velocity)), volume


def fastest(gas):
    _, velocity, pressure, volume = gas
    return np.sqrt(dot(velocity, velocity)) + np.sqrt(1.4 * pressure * volume)


def fluxes(gas):
    q, velocity, pressure, _ = gas
    enthalpy = q[1] + pressure
    momentum = [
        [q[2 + j] * velocity[i] + pressure if i == j else q[2 + j] * velocity[i] for i in range(3)]
        for j in range(3)
    ]
    return [q[2:], [part * enthalpy for part in velocity], *momentum]


def euler(space, *q):
    inside = complete([space.inside(field) for field in q])
    outside = [space.outside(field) for field in q]
    twice = 2 * space.wall * dot(outside[2:], space.normal)
    for i in range(3):
        outside[2 + i] = outside[2 + i] - twice * space.normal[i]
    outside = complete(outside)
    speed = np.maximum(fastest(inside), fastest(outside))
    rates = []
    for k, (volume, here, there) in enumerate(zip(fluxes(complete(q)), fluxes(inside), fluxes(outside))):
        central = dot(space.normal, here) + dot(space.normal, there)
        flux = 0.5 * (central - speed * (outside[0][k] - inside[0][k]))
        rates.append(space.solve_mass(space.divergence(volume) - space.lift(flux)))
    return rates
