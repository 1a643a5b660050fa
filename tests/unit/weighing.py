"""A belief that notes the noise of every label, and a rule that looks at every offer."""

from breakeven import Rule, TypeMeans, Verdict


class Weighing(TypeMeans):
    """Means over types; `noises` has the noise that came with each label, by verb and key."""

    def __init__(self, noise_std=1.0):
        super().__init__(noise_std)
        self.noises = []

    def ask(self, key, point, view=None, noise_std=None, age=0):
        self.noises.append(("ask", key, noise_std))
        return super().ask(key, point, view, age=age)

    def tell(self, key, point, y, noise_std=None):
        self.noises.append(("tell", key, noise_std))
        return super().tell(key, point, y)

    def learn(self, point, y, key=None, noise_std=None, age=0):
        self.noises.append(("learn", key, noise_std))
        return super().learn(point, y, key, age=age)

    @classmethod
    def of(cls, config):
        return cls(config["noise_std"])


class Bargain(Rule):
    """Ask whoever is cheapest, while that is below `most`, whatever the noise."""

    most: float = 10.0

    def decide(self, view):
        best = min(view.offers, key=lambda offer: offer.price)
        return Verdict(
            best.price < self.most, self.most, "A bargain.", worth=self.most, labeller=best.labeller
        )
