"""A serializer for tests."""


class Store(dict):
    """A serializer that keeps values in memory; `loading` returns them."""

    loading = False

    def __getitem__(self, key):
        return self.setdefault(key, Store())

    def __call__(self, key, value):
        if self.loading:
            return self.get(key, value)
        self[key] = value
        return value

    def loaded(self):
        for child in self.values():
            if isinstance(child, Store):
                child.loaded()
        self.loading = True
        return self
