// A module of this name, for `canImport(Darwin)`.
