"""click"""
def run(args):
    from memman import compose
    print(compose.drain())
    return 0
